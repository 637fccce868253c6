# A process that outlives the program does not keep heapprof, unless --wait says so; daemons are such processes.
for kind in child daemon; do
  # Without --wait: as of now, said, and the process is none the worse for it.
  rm -f profile* fifo
  mkfifo fifo
  status=0
  "$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/leaves_child" $kind fifo >out.txt 2>err.txt || status=$?
  expect_eq "exit status ($kind)" "$status" 6
  child=$(cat out.txt)
  [ -d /proc/$child ] || fail "the $kind does not run on"
  expect_in err.txt "1 runs on"
  check_profile profile.json profile.$child.json
  expect_complete
  expect_end exited 6
  expect_eq "end of the $kind" "$(json profile.$child.json .heapprof.run.end)" detached
  expect_eq "complete" "$(json profile.$child.json .heapprof.run.complete)" false
  expect_sum '^allocate_early' "3705 3 3705 3" profile.$child.json
  echo x >fifo

  # With it: to its end.
  rm -f profile* fifo out.txt
  mkfifo fifo words
  "$HEAPPROF_BIN" run --wait -o profile.json -- "$TARGETS/leaves_child" $kind fifo >words 2>err.txt &
  cli=$!
  read -r child <words
  [ -d /proc/$cli ] || fail "heapprof did not stay"
  echo x >fifo
  status=0
  wait $cli || status=$?
  rm words
  expect_eq "exit status with --wait ($kind)" "$status" 6
  expect_complete profile.$child.json
  expect_sum '^allocate_early' "3705 3 3705 3" profile.$child.json
  expect_sum '^allocate_late' "6185 5 6185 5" profile.$child.json
done

# Waiting ends with a signal, and with the time that was given; the status is the program's.
rm -f profile* fifo
mkfifo fifo words
"$HEAPPROF_BIN" run --wait -o profile.json -- "$TARGETS/leaves_child" daemon fifo >words 2>err.txt &
cli=$!
read -r child <words
has_ended() { ! pgrep -P $cli -x leaves_child | grep -vqx "$child"; }
wait_for 60 "the program's end" has_ended
kill -INT $cli
status=0
wait $cli || status=$?
expect_eq "exit status after SIGINT" "$status" 6
[ -d /proc/$child ] || fail "the signal ended the daemon"
expect_eq "end of the daemon" "$(json profile.$child.json .heapprof.run.end)" detached
echo x >fifo
rm -f profile* fifo
mkfifo fifo
expect_status 6 "$HEAPPROF_BIN" run --wait=1 -o profile.json -- "$TARGETS/leaves_child" daemon fifo
check_profile profile.json profile."$(cat out.txt)".json
echo x >fifo
