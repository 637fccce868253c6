# What report, diff, check and the findings show: on terminals of 80 columns (24 lines), 40, 60 and 200, without a
# terminal, without colour, and in the C locale. `scripts/regold` rewrites the golden files.
unset COLUMNS NO_COLOR
cp "$small" small.json
grown 100000 small.json >grown.json

# shown COMMAND…: all of its screens, each below what is special about it
shown() {
  local columns
  for columns in 80 40 60 200; do
    echo "=== terminal of $columns columns"
    on_terminal $columns said.txt "$@" || true
    sed 's/\x1b/\\e/g' said.txt
  done
  echo "=== terminal of 80 columns, NO_COLOR"
  NO_COLOR=1 on_terminal 80 said.txt "$@" || true
  grep -q $'\033' said.txt && fail "colour in spite of NO_COLOR: $*"
  cat said.txt
  echo "=== terminal of 80 columns, TERM=dumb"
  TERM_OF_TEST=dumb on_terminal 80 dumb.txt "$@" || true
  cmp said.txt dumb.txt && echo "as with NO_COLOR"
  echo "=== terminal of 80 columns, C locale"
  LC_ALL=C on_terminal 80 said.txt "$@" || true
  LC_ALL=C grep -qP '[^\x00-\x7f]' said.txt && fail "more than ASCII in the C locale: $(cat said.txt)"
  sed 's/\x1b/\\e/g' said.txt
  echo "=== no terminal"
  "$@" >said.txt 2>&1 || true
  grep -q $'\033' said.txt && fail "colour without a terminal: $*"
  cat said.txt
}

# same NAME COMMAND…: they are those of the golden file
same() {
  shown "${@:2}" >"$1.txt"
  if [ -n "${HEAPPROF_REGOLD:-}" ]; then
    cp "$1.txt" "$SOURCE/tests/golden/screens/$1.txt"
  else
    diff "$SOURCE/tests/golden/screens/$1.txt" "$1.txt" || fail "another screen of $1"
  fi
}

same report "$HEAPPROF_BIN" report small.json
same tree "$HEAPPROF_BIN" report --tree --sort total small.json
same findings "$HEAPPROF_BIN" report --findings small.json
same diff "$HEAPPROF_BIN" diff small.json grown.json
same check "$HEAPPROF_BIN" check --max-peak 1KiB --max-leaked 1KiB --max-peak cuda:0=1MiB --max-allocations 100 small.json
