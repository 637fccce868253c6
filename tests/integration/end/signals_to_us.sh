# A signal that a process sends to heapprof is the program's; a second one means: write what there is, and leave the
# program be.
start() {  # HOW: a background run of the target, its words on descriptor 3, its input held open by descriptor 4
  rm -f words input profile.json
  mkfifo words input
  "$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/ignores_sigterm" "$1" >words 2>err.txt <input &
  cli=$!
  exec 3<words 4>input
  read -r -u 3 word
  expect_eq "the target's word" "$word" go
  target=$(pgrep -o -P $cli)
}
start mind
kill -TERM $cli
status=0
wait $cli || status=$?
expect_eq "exit status" $status 143
check_profile profile.json
expect_end signaled 15
expect_sum '^allocate_before' "8645 7 8645 7"

# The program blocks it, or ignores it: one is the program's, and a second one, 0.2 s and more after the first was
# handed on, is ours. One that was handed on to a program that blocks it is seen to pend there. Of one that is ignored
# nothing is seen: the second is sent until it counts.
expect_left() {  # and the program goes on
  wait $cli || true
  check_profile profile.json
  expect_eq "the end" "$(json profile.json .heapprof.run.end)" detached
  expect_eq "complete" "$(json profile.json .heapprof.run.complete)" false
  expect_sum '^allocate_before' "8645 7 8645 7"
  [ -d /proc/$target ] || fail "the program was ended"
  exec 4>&-
  read -r -u 3 -t 20 word || fail "the program does not go on"
  expect_eq "the target's word" "$word" done
  expect_eq "profiles" "$(ls profile*)" profile.json
}
pends() { [ $((0x$(awk '/^ShdPnd/ { print $2 }' /proc/$1/status) & 1 << 14)) != 0 ]; }
start block
kill -TERM $cli
wait_for 60 "the first SIGTERM in the program" pends $target
sleep 0.3
[ -d /proc/$target ] && [ -d /proc/$cli ] || fail "one SIGTERM ended a program that blocks it"
kill -TERM $cli
expect_left
start ignore
kill -TERM $cli
is_read() { ! pends $cli; }
wait_for 60 "the first SIGTERM read" is_read
sleep 0.3
[ -d /proc/$target ] && [ -d /proc/$cli ] || fail "one SIGTERM ended a program that ignores it"
has_left() { is_over $cli || { kill -TERM $cli; false; }; }
wait_for 60 "heapprof's end by another SIGTERM" has_left
expect_left
