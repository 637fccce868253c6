# A program that defines malloc itself, and only the least of its family, is hooked in place; told to leave it alone,
# heapprof says that it cannot see what the program allocates.
expect_status 7 "$TARGETS/own_malloc"
profile "$TARGETS/own_malloc"
expect_eq "exit status" "$status" 7
expect_complete
expect_sum '^main' "8645 7 0 0"
expect_not_in err.txt HP013
expect_status 7 "$HEAPPROF_BIN" run --no-inner-allocators -o profile.json "$TARGETS/own_malloc"
expect_in err.txt "defines malloc, free, calloc, realloc itself: what it allocates never reaches the agent [HP013]"
expect_eq "allocations" "$(jq '[.pps[].tbk] | add // 0' profile.json)" 0
# An empty profile never comes with a status that says that all is well.
expect_status 0 "$TARGETS/own_malloc" quietly
expect_status 125 "$HEAPPROF_BIN" run -q --no-inner-allocators -o profile.json "$TARGETS/own_malloc" quietly
expect_in err.txt "heapprof: error: the profile is empty"
expect_in err.txt "[HP016]"
