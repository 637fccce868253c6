# A program that waits for its --leak-check is not harmed by what becomes of heapprof meanwhile: killed, stopped for
# longer than --stall-timeout; nor heapprof by the program's death. Under a filter of system calls nothing is asked.
mkfifo words input
hold() {  # FLAGS…: heapprof stands still, and the program comes to its end
  rm -f profile.json
  "$HEAPPROF_BIN" run --leak-check "$@" -o profile.json -- "$TARGETS/leak_kinds" books held >words <input 2>err.txt &
  cli=$!
  exec 3<words 4>input
  read -r -t 60 word <&3
  expect_eq "the program's word" "$word" go
  target=$(pgrep -o -P $cli)
  kill -STOP $cli
  echo >&4
}
await_wait() { wait_for 60 "the program's wait" sleeps_in "$target" 202; }  # futex
await_end() { wait_for 60 "the program's end" is_over "$target"; }

# heapprof dies: the program goes on and ends. Nobody is left to say with which status.
hold
await_wait
kill -KILL $cli
await_end
wait $cli || true

# heapprof stands still for longer than the program waits. Its wait of 1 s may be over before anybody looks.
hold --stall-timeout 1
await_end
kill -CONT $cli
status=0
wait $cli || status=$?
expect_eq "exit status of a program that did not wait" "$status" 7
check_profile profile.json
"$PYTHON" "$SOURCE/tests/support/leak_kinds.py" books profile.json --none || fail "a program that had gone on was judged"

# The program is killed while it waits.
hold
await_wait
kill -KILL "$target"
kill -CONT $cli
status=0
wait $cli || status=$?
expect_eq "exit status of a program that was killed" "$status" 137
check_profile profile.json
"$PYTHON" "$SOURCE/tests/support/leak_kinds.py" books profile.json --none || fail "a program that was killed was judged"

# heapprof stands still for a while, and then does its work.
hold
await_wait
kill -CONT $cli
status=0
wait $cli || status=$?
expect_eq "exit status of a program that was waited for" "$status" 7
"$PYTHON" "$SOURCE/tests/support/leak_kinds.py" books profile.json || fail "a program that waited is not judged as it is"

# Where a filter may kill for it, the agent makes no system call.
for what in filter_kills filter_refuses; do
  "$TARGETS/restricts_itself" $what || [ $? = 11 ] || { not_tried "seccomp filters"; break; }
  status=0
  "$HEAPPROF_BIN" run --leak-check -o profile.json -- "$TARGETS/restricts_itself" $what >out.txt 2>err.txt || status=$?
  expect_eq "exit status of '$what'" "$status" 11
  check_profile profile.json
  expect_eq "the check of '$what'" "$(json profile.json .heapprof.leak_check.made)" false
done
