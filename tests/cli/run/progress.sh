# What takes longer than half a second after the program's end shows a line that moves, on a terminal; it is gone before
# the summary begins. Elsewhere there is none.
unset COLUMNS
sign='[⠋⠙⠹⠸⠼⠴⠦⠧]'

# waits: the profile goes to a reader who comes late
waits() {
  rm -f slow.json && mkfifo slow.json
  (sleep 1.5; cat slow.json >read.json) &
}
# waits_for_signs: to one who comes when the line has moved, or never will
waits_for_signs() {
  rm -f slow.json shown.txt && mkfifo slow.json
  (has_signs() { [ "$(cat shown.txt 2>/dev/null | tr '\r' '\n' | grep -oE "^$sign writing the profile" | sort -u | wc -l)" -ge 3 ]; }
   (wait_for 60 "three signs" has_signs) || true
   cat slow.json >read.json) &
  export SHOWN_SO_FAR=shown.txt
}

# moved WHAT: its line was drawn with at least three signs, and nothing of it is left on the screen
moved() {
  local -i signs
  signs=$(tr '\r' '\n' <said.txt | grep -oE "^$sign $1" | sort -u | wc -l)
  [ $signs -ge 3 ] || fail "'$1' did not move ($signs signs): $(cat -v said.txt)"
  # after the last drawing the line is erased, and only then the summary begins
  "$PYTHON" - "$1" <<'PY'
import sys
said = open("said.txt", encoding="utf-8", newline="").read()
head, gone, rest = said.rpartition("\r\x1b[K")
assert gone and sys.argv[1] not in rest, "the line is left"
assert "heapprof: " not in head, "the summary began before the line was gone"
assert rest.lstrip("\n").startswith("\x1b[1m") or "heapprof: " in rest, rest[:200]
PY
}

waits_for_signs
on_terminal 80 said.txt "$HEAPPROF_BIN" run -o slow.json "$TARGETS/leaky" || fail "it failed: $(cat said.txt)"
wait
moved "writing the profile"
[ -s read.json ] || fail "the profile was not written"

# While processes of the run live, the terminal is theirs: what one of them writes stands there as it wrote it.
on_terminal 80 said.txt "$HEAPPROF_BIN" run --wait -o a.json -- sh -c "(for i in 1 2 3; do sleep 0.5; echo word-\$i; done) & exec true" ||
  fail "it failed: $(cat said.txt)"
before_summary=$(sed '/^heapprof: /,$d' said.txt | tr -d '\r')
expect_eq "what stands before the summary" "$(grep -c . <<<"$before_summary")" 3
expect_eq "the last word" "$(tail -1 <<<"$before_summary")" word-3

# In 40 columns it is one line.
waits_for_signs
on_terminal 40 said.txt "$HEAPPROF_BIN" run -o slow.json "$TARGETS/leaky"
wait
moved "writing the profile"

# With --quiet, and without a terminal, nothing moves.
waits
on_terminal 80 said.txt "$HEAPPROF_BIN" run -q -o slow.json "$TARGETS/leaky"
wait
[ ! -s said.txt ] || fail "--quiet said something: $(cat -v said.txt)"
waits
expect_status 0 "$HEAPPROF_BIN" run -o slow.json "$TARGETS/leaky"
wait
expect_not_in err.txt $'\r'
expect_not_in err.txt $'\033'
