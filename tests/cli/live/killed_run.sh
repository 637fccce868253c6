# A run that is killed while it is watched: the view says so, with status 1, and does not wait.
obeys_starts
"$HEAPPROF_BIN" top --interval 250ms "$target" >lines.txt 2>end.txt &
top=$!
wait_for 60 "its first line" test -s lines.txt
kill -9 $run
status=0
wait $top || status=$?
expect_eq "the end of top" $status 1
says end.txt <<SAID
heapprof: error: no live view of process $target: its heapprof has ended, and what it was about to write is lost [HP239]
  fix:     ask again: heapprof top $target
  instead: take a profile: heapprof snapshot $target
SAID
echo end >&8
