# A watcher that is stopped keeps nobody: the program ends, its profile is written, and the watcher says so when it goes
# on.
obeys_starts
"$HEAPPROF_BIN" top --interval 250ms "$target" >lines.txt 2>end.txt &
top=$!
wait_for 60 "its first line" test -s lines.txt
kill -STOP $top
for word in grow churn shrink; do obeys $word; done
echo end >&8
wait $run
expect_eq "its end" "$(jq -c '.heapprof.run | [.end, .status, .complete]' final.json)" '["exited",0,true]'
kill -CONT $top
status=0
wait $top || status=$?
expect_eq "the end of top" $status 0
expect_in end.txt "saved  final.json"
