# A program that was bound at its start, and exports nothing, is counted where it calls an allocator's own names.
profile "$TARGETS/bound_early"
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^main' "123500 100 0 0"
