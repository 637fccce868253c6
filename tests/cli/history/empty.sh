# An empty file, and one without a line that can be read, which is no history.
: >empty.jsonl
expect_status 0 "$HEAPPROF_BIN" history empty.jsonl
expect_eq "an empty file" "$(cat out.txt)" "empty.jsonl  no entries"
printf '{"not": "an entry"}\nnor this\n' >none.jsonl
expect_status 3 "$HEAPPROF_BIN" history none.jsonl
