# A process that goes on as a program without the agent: its profile ends there, and does not claim that program's exit
# status.
mkfifo fifo
"$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/execs_unseen" child /bin/sh -c 'read x; exit 9' <fifo >out.txt 2>err.txt &
cli=$!
exec 4>fifo
for ((i = 0; i < 600; ++i)); do  # the child's profile is written as soon as its exec is seen; a minute at most
  ! ls profile.*.exec1.json >/dev/null 2>&1 || break
  sleep 0.1
done
child=$(ls profile.*.exec1.json) || fail "the exec was not seen"
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
for ((i = 0; i < 600; ++i)); do  # heapprof lets go of the shared memory when it has seen the exec
  [ -d /proc/$cli/fd ] || fail "heapprof has ended"
  pgrep -P $cli -x sh >/dev/null && ! ls -l /proc/$cli/fd | grep -q 'memfd:heapprof' && break
  sleep 0.1
done
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
