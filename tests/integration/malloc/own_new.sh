# A program with an operator new of its own: each block is counted once, at the place that called new.
profile "$TARGETS/own_new"
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^use_new' "$((6 * 1235 + 3 * 32 + 4 * 1238)) 11 7410 6"
