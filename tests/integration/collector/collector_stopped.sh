# heapprof stands still for two seconds: the rings fill, the program waits, nothing is lost.
mkfifo words
"$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/runs_on" 3000000 >words 2>err.txt &
cli=$!
exec 3<words
read -r word <&3
kill -STOP $cli
sleep 2
state=$(ps -o stat= -p "$(pgrep -o -P $cli)" | cut -c1)
kill -CONT $cli
read -r word <&3
expect_eq "the target's word" "$word" done
status=0
wait $cli || status=$?
expect_eq "exit status" $status 0
[ "$state" = S ] || [ "$state" = R ] || fail "the target's state was $state"
check_profile profile.json
expect_complete
expect_sum '^allocate_one' "3705000000 3000000 0 0"
