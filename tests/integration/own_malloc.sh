# A program that defines malloc itself runs unharmed; heapprof says that it cannot see what it allocates.
expect_status 7 "$TARGETS/own_malloc"
expect_status 7 "$HEAPPROF_BIN" run -o profile.json "$TARGETS/own_malloc"
expect_in err.txt "defines malloc, free, calloc, realloc itself: what it allocates never reaches the agent [HP013]"
expect_eq "allocations" "$(jq '[.pps[].tbk] | add // 0' profile.json)" 0
