# Go calls C on another stack: what C allocates has Go's functions in its stack. The stack ends where the goroutine
# does.
profile "$TARGETS/go_calls"
expect_eq "status" "$status" 0
expect_eq "stack" "$(stacks '^allocate_first')" \
  "allocate_first < go_asmcgocall < go_cgocall < go_load < go_main < begin_goroutine"
expect_eq "stack as since Go 1.21" "$(stacks '^allocate_second')" \
  "allocate_second < go_asmcgocall_now < go_cgocall_now < go_load_now < go_main_now < begin_goroutine"
expect_sum '^allocate_first' "12350 10 12350 10"
expect_sum '^allocate_second' "12360 10 12360 10"
expect_eq "truncated stacks" "$(counter truncated_stacks_count)" 0
