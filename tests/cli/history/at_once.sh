# Eight that add to one file at the same time.
"$HEAPPROF_BIN" history --add --commit c0ffee new.jsonl "$small" "$foreign/valgrind_heap.json" 2>err.txt
lines=$(wc -l <new.jsonl)
for i in 1 2 3 4 5 6 7 8; do "$HEAPPROF_BIN" history -q --add --name "run $i" new.jsonl "$small" & done
wait
expect_eq "lines after eight at the same time" "$(jq -c .version new.jsonl | wc -l)" "$((lines + 16))"
