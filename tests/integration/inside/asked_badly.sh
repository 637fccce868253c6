# Questions from handlers, from children, under filters, left half way: each has an answer or a refusal, and nobody
# waits for ever. Nor does anybody when the collector stands still, or is killed.
for how in handlers jumps forks returns unseen cancels; do
  profile "$TARGETS/asks_on" $how
  expect_eq "$how: exit status" "$status" 0
  expect_in out.txt done
  expect_eq "$how: lost events" "$(counter lost_count)" 0
done
profile "$TARGETS/asks_on" filtered
if [ "$status" = 77 ]; then not_tried "no seccomp here"; else expect_eq "filtered: exit status" "$status" 0; fi

# ask COMMAND…: the program asks and asks, something is done to heapprof, and the program says what it was told then
ask() {
  rm -f words
  mkfifo words
  "$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/asks_on" loop >words 2>err.txt &
  cli=$!
  exec 3<words
  read -r -t 60 word <&3
  expect_eq "the program's word" "$word" go
  wait_for 60 "a question" sleeps_in "$(pgrep -P $cli -x asks_on)" 202  # futex
  "$@"
  read -r -t 60 word <&3 || fail "the program waits for ever"
}
at_end() { [ -z "$cli" ] || kill -9 $cli 2>/dev/null || true; }
cli=
stop_it() { kill -STOP $cli; }
ask stop_it
kill -CONT $cli
expect_eq "while heapprof stands still" "$word" "-2 after a moment"
read -r -t 60 word <&3
expect_eq "when heapprof goes on" "$word" "and again"
wait $cli
cli=
check_profile profile.json
expect_complete
kill_it() { kill -9 $cli; wait $cli 2>/dev/null || true; cli=; }
ask kill_it
case "$word" in "-1 after a moment" | "-2 after a moment") ;; *) fail "heapprof was killed: '$word'" ;; esac
