# Programs that let the kernel kill them for a system call: none of ours is made once they have asked for that.
"$TARGETS/filtered" prctl busy 1 >out.txt 2>&1 || skip "no seccomp here: $(cat out.txt)"
unset LD_PRELOAD
for how in prctl syscall; do
  profile "$TARGETS/filtered" $how busy 300000
  expect_eq "exit status" "$status" 0
  expect_eq "output" "$(cat out.txt)" "done"
  expect_complete
  expect_sum 'allocate_pairs' "$((1235 * 300001)) 300001 0 0"

  profile "$TARGETS/filtered" $how thread
  expect_eq "exit status" "$status" 0
  expect_complete
  expect_sum 'allocate_in_thread' "12360 10 12360 10"

  profile "$TARGETS/filtered" $how fork
  expect_eq "exit status" "$status" 0
  expect_sum 'allocate_pairs' "1235 1 0 0"
  expect_eq "profiles" "$(ls profile*)" profile.json

  profile "$TARGETS/filtered" $how exec /bin/echo still alive
  expect_eq "exit status" "$status" 0
  expect_eq "output" "$(cat out.txt)" "still alive"
  expect_sum 'allocate_pairs' "1235 1 0 0"

  profile "$TARGETS/filtered" $how strict
  expect_eq "exit status" "$status" 0
  expect_eq "output" "$(cat out.txt)" "done"
  if [ "$(json profile.json .heapprof.coverage.clock)" = sequence ]; then  # a machine without the counter
    expect_sum 'allocate_pairs' "$((1235 * 1001)) 1001 0 0"
  else
    expect_sum 'allocate_pairs' "1235 1 0 0"
    expect_in err.txt "the program forbade itself the time stamp counter"
  fi
done

profile "$TARGETS/filtered" any probe
expect_eq "exit status" "$status" 0
expect_complete
expect_sum 'allocate_in_thread' "12360 10 12360 10"

# An instruction of the program's own cannot be seen coming: the collector finds the filter within 10 ms.
profile "$TARGETS/filtered" raw busy 1000
expect_eq "exit status" "$status" 0
expect_complete
profile "$TARGETS/filtered" raw exec /bin/echo still alive
expect_eq "exit status" "$status" 0
