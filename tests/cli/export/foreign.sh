# Profiles of other tools are exported.
expect_status 0 "$HEAPPROF_BIN" export --format folded "$foreign/valgrind_heap.json"
expect_eq "valgrind's peak" "$(awk '{ sum += $NF } END { print sum }' out.txt)" "$(jq '[.pps[].gb] | add' "$foreign/valgrind_heap.json")"
expect_status 0 "$HEAPPROF_BIN" export --format pprof -o v.pb.gz "$foreign/valgrind_heap.json"
