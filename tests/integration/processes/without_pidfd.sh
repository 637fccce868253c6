# On a kernel without pidfds the ends of children are learned from /proc: their profiles are written while the program
# runs.
status=0
"$TARGETS/denies_pidfd" true || status=$?
[ $status -ne 77 ] || skip "no filters of system calls here"
mkfifo fifo
"$TARGETS/denies_pidfd" "$HEAPPROF_BIN" run -o profile.json -- sh -c "'$TARGETS/leaky' >/dev/null; read x; exit 7" <fifo >out.txt 2>err.txt &
cli=$!
exec 4>fifo
has_profile() { child=$(ls profile.*.json 2>/dev/null); }
wait_for 60 "the child's profile" has_profile
[ -d /proc/$cli ] || fail "heapprof has ended"
echo >&4
exec 4>&-
status=0
wait $cli || status=$?
expect_eq "exit status" "$status" 7
check_profile profile.json "$child"
expect_complete "$child"
