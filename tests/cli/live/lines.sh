# Without a terminal there is a line an interval; growth, scopes and findings are in it or in JSON; the end is said, and
# where the profile is.
obeys_starts
"$HEAPPROF_BIN" top --interval 250ms "$target" >lines.txt 2>end.txt &
top=$!
obeys grow
obeys open
"$HEAPPROF_BIN" top --once --interval 6s --format json "$target" >once.json &
once=$!
wait_for 60 "its first sample" sleeps_in $once 271  # ppoll: it waits for its second
obeys grow
wait $once
expect_eq "growth" "$(jq -c '.devices[0] | [.live_bytes, .growth_bytes, .new_allocations_count]' once.json)" "[2004102,1000003,1]"
expect_eq "the place that grew" "$(jq -c '.devices[0].places[0] | [.function, .live_bytes, .growth_bytes]' once.json)" '["grow",2000006,1000003]'
expect_eq "the scope" "$(jq -c '.scopes[0] | [.path, .begun_count, .open_count, .allocated_bytes]' once.json)" "[\"work\",1,1,$((4096 + 1000003))]"
obeys close
obeys shrink
wait_for 60 "three lines" has_lines lines.txt 3
echo end >&8
wait $run
status=0
wait $top || status=$?
expect_eq "the end of top" $status 0
expect_in lines.txt "  host "
expect_in lines.txt " allocs/s"
says end.txt <<SAID
process $target has ended: exit 0 after $(sed -n 's/.* after //p' end.txt)
host  peak 1.91 MiB, leaked 0 B, 4 allocations
saved  final.json
next   heapprof report final.json
SAID
