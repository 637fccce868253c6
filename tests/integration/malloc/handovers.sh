# Blocks that another thread frees at once: every free meets its malloc, whatever the order of their stamps.
profile "$TARGETS/handovers" 1 1000000
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_block' "2470000000 2000000 0 0"
profile "$TARGETS/handovers" 8 50000
expect_complete
expect_sum '^allocate_block' "988000000 800000 0 0"
