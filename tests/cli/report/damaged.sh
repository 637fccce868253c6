# Damaged files: 3, whatever is wrong.
head -c 500 "$small" >cut.json
expect_status 3 "$HEAPPROF_BIN" report cut.json
expect_in err.txt "heapprof: error: cut.json"
head -c 5000 /dev/urandom >noise.json
expect_status 3 "$HEAPPROF_BIN" report noise.json
expect_status 3 "$HEAPPROF_BIN" report /
jq '.pps[0].gb += 1' "$small" >wrong.json
expect_status 3 "$HEAPPROF_BIN" report wrong.json
