# A stack is whole where no function keeps a frame pointer.
profile "$TARGETS/no_frame_pointers"
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^innermost' "123500 100 61750 50"
expect_eq "stack" "$(stacks '^innermost' | grep -o '.* < main')" "innermost < middle < outermost < main"
