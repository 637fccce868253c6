# The target forks and execs while it is watched: a child changes nothing, after an exec the numbers begin anew.
obeys_starts
obeys grow
"$HEAPPROF_BIN" top --interval 250ms "$target" >lines.txt 2>end.txt &
top=$!
wait_for 60 "its first line" test -s lines.txt
obeys fork
expect_in lines.txt "host 977 KiB"
echo exec >&8
read -r word <&9
expect_eq "the new image" "$word" ready
last_line_has() { tail -1 lines.txt | grep -qF "$1"; }
wait_for 60 "a line of the new image" last_line_has "host 0 B"
obeys grow
wait_for 60 "a line of its growth" last_line_has "host 977 KiB"
expect_status 0 "$HEAPPROF_BIN" top --once --interval 250ms --format json "$target"
expect_eq "the new image's numbers" "$(jq -c '.devices[0] | [.live_blocks_count, .live_bytes]' out.txt)" "[1,1000003]"
echo end >&8
wait $run
status=0
wait $top || status=$?
expect_eq "the end of top" $status 0
expect_in end.txt "host  peak 977 KiB, leaked 977 KiB, 2 allocations"
