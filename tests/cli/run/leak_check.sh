# run --leak-check: what is lost stands in the summary, the report and their JSON and CSV; a snapshot has not been
# judged; without the flag there is no word of it.
export COLUMNS=80
expect_status 0 "$HEAPPROF_BIN" run --leak-check -o profile.json "$TARGETS/leaky"
expect_in err.txt "lost  6.03 KiB in 5 blocks"
expect_in err.txt "      6.03 KiB  100 %  5 blocks  leak_blocks  leaky.cc:10   ← main"
expect_status 0 "$HEAPPROF_BIN" report profile.json
expect_in out.txt "lost  6.03 KiB in 5 blocks"
expect_in out.txt "LOST AT EXIT host"
"$HEAPPROF_BIN" report --format json profile.json >report.json
expect_eq "the report's check" "$(jq -r .leak_check.made report.json)" true
expect_eq "what the heap lost" "$(jq -r '.devices[0] | "\(.lost_bytes) \(.lost_blocks_count) \(.reachable_bytes)"' report.json)" "6175 5 0"
expect_eq "what the place lost" "$(jq -r '.devices[0].places[] | select(.function == "leak_blocks()") | .lost_bytes' report.json)" 6175
"$HEAPPROF_BIN" report --format csv profile.json >report.csv
expect_in report.csv ",lost_bytes,lost_blocks_count,indirectly_lost_bytes,"
expect_status 0 "$HEAPPROF_BIN" report --findings profile.json
expect_not_in out.txt "whether live blocks can still be reached"

expect_status 0 "$HEAPPROF_BIN" run -o plain.json "$TARGETS/leaky"
expect_not_in err.txt "lost  "
expect_status 0 "$HEAPPROF_BIN" report plain.json
expect_not_in out.txt "lost  "
expect_eq "the check of a run without it" "$("$HEAPPROF_BIN" report --format json plain.json | jq .leak_check)" null

mkfifo words input
"$HEAPPROF_BIN" run -q --leak-check -o whole.json -- "$TARGETS/leak_kinds" books held >words <input 2>err.txt &
cli=$!
exec 3<words 4>input
read -r -t 60 word <&3
expect_eq "the program's word" "$word" go
expect_status 0 "$HEAPPROF_BIN" snapshot -q -o now.json "$(pgrep -o -P $cli)"
echo >&4
status=0
wait $cli || status=$?
expect_eq "exit status" $status 7
expect_eq "the check of a snapshot" "$(jq -r '.heapprof.leak_check | "\(.made) \(.reason)"' now.json)" "false the program is still running"
expect_eq "the check at the end" "$(jq -r .heapprof.leak_check.made whole.json)" true
