# A program that defines malloc itself runs unharmed; heapprof says that it cannot see what it allocates.
expect_status 7 "$TARGETS/own_malloc"
expect_status 7 "$HEAPPROF_BIN" run -o profile.json "$TARGETS/own_malloc"
expect_in err.txt "defines malloc, free, calloc, realloc itself: what it allocates never reaches the agent [HP013]"
expect_eq "allocations" "$(jq '[.pps[].tbk] | add // 0' profile.json)" 0
# An empty profile never comes with a status that says that all is well.
expect_status 0 "$TARGETS/own_malloc" quietly
expect_status 125 "$HEAPPROF_BIN" run -q -o profile.json "$TARGETS/own_malloc" quietly
expect_in err.txt "heapprof: error: the profile is empty"
expect_in err.txt "[HP016]"
