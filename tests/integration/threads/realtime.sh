# A thread of a real-time class that waits for a lock of the agent lets its holder run, which has no such class, though
# they share one processor. (Else the kernel does so after a second: sched_rt_runtime_us.)
"$TARGETS/realtime" 1 >plain.txt || skip "no thread of a real-time class can be made here (root)"
expect_status 0 "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/realtime" 200
check_profile profile.json
expect_complete
[ "$(cat out.txt)" -lt 300 ] || fail "an allocation of a real-time thread took $(cat out.txt) ms"
