# A process that goes on as a program without the agent: its profile ends there, and does not claim that program's exit
# status.
mkfifo fifo
"$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/execs_unseen" child /bin/sh -c 'read x; exit 9' <fifo >out.txt 2>err.txt &
cli=$!
exec 4>fifo
has_profile() { child=$(ls profile.*.exec1.json 2>/dev/null); }  # written as soon as its exec is seen
wait_for 60 "the child's profile" has_profile
echo >&4
exec 4>&-
status=0
wait $cli || status=$?
expect_eq "exit status" "$status" 9
check_profile "$child"
expect_end exec 0 "$child"
expect_sum '^allocate_first' "3705 3 3705 3" "$child"
expect_eq "profiles" "$(ls profile*.json | wc -l)" 2

# The program itself: FILE is its last profiled image, and a warning says what it became.
rm profile*
"$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/execs_unseen" /bin/sh -c 'read x; exit 9' <fifo >out.txt 2>err.txt &
cli=$!
exec 4>fifo
has_seen_exec() {  # heapprof lets go of the shared memory then
  [ -d /proc/$cli/fd ] || fail "heapprof has ended"
  pgrep -P $cli -x sh >/dev/null && ! ls -l /proc/$cli/fd | grep -q 'memfd:heapprof'
}
wait_for 60 "heapprof to see the exec" has_seen_exec
echo >&4
exec 4>&-
status=0
wait $cli || status=$?
expect_eq "exit status" "$status" 9
check_profile profile.json
expect_end exec 0
expect_sum '^allocate_first' "3705 3 3705 3"
expect_in err.txt "execs_unseen became"
expect_eq "profiles" "$(ls profile*.json)" profile.json
