# Where COLUMNS says how wide lines are, nothing is wider in a pipe either: warnings, errors, and what check says. Where
# it says nothing, a log has each sentence whole.
with_leaky_profile leaky.json
mkdir folder_of_it && cp leaky.json folder_of_it/a_profile_of_it.json
fits() {  # COLUMNS COMMAND…
  local width=$1 line
  shift
  COLUMNS=$width "$@" >piped.txt 2>&1 </dev/null || true
  while IFS= read -r line; do
    [ "${#line}" -le "$width" ] || fail "$width columns: '$*' says: $line"
  done <piped.txt
}
limits="--max-peak 1KiB --max-leaked 1KiB --max-allocations 100 --max-temporary 90%"
for width in 40 60 80; do
  fits $width "$HEAPPROF_BIN" run -o run.json --limit cuda:3=1GiB "$TARGETS/leaky"  # a warning
  expect_in piped.txt "HP112"
  # shellcheck disable=SC2086
  fits $width "$HEAPPROF_BIN" check $limits folder_of_it/a_profile_of_it.json
  expect_in piped.txt FAIL
  fits $width "$HEAPPROF_BIN" report no-such-file.json
  expect_in piped.txt HP060
  fits $width "$HEAPPROF_BIN" merge -o sum.json leaky.json "$small"
done
"$HEAPPROF_BIN" run -o run.json --limit cuda:3=1GiB "$TARGETS/leaky" 2>err.txt
expect_eq "lines of a warning without COLUMNS" "$(grep -c HP112 err.txt) $(grep HP112 err.txt | grep -c '^heapprof: warning: ')" "1 1"
