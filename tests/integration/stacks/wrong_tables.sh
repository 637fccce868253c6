# Unwind tables that are wrong end a stack, marked as truncated, and not the program.
expect_eq "the program alone" "$("$TARGETS/wrong_tables")" "done"
profile "$TARGETS/wrong_tables"
expect_eq "exit status" "$status" 0
expect_eq "output" "$(cat out.txt)" "done"
for function in far_above one_page_above largest by_data bp_elsewhere by_expression by_memory; do
  expect_sum "$function" "7410 6 0 0"
done
[ "$(counter truncated_stacks_count)" -ge 30 ] || fail "only $(counter truncated_stacks_count) stacks are truncated"
