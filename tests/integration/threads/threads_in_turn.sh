# Rings are used again: 20,000 threads one after another.
profile "$TARGETS/threads_in_turn" 20000
expect_eq "exit status" "$status" 0
expect_complete
read -r bytes blocks leaked_bytes leaked_blocks < <(sum '^allocate_block')
expect_eq "blocks" "$bytes $blocks" "24700000 20000"
expect_eq "leaked" "$leaked_bytes $leaked_blocks" "$((6667 * 1235)) 6667"
