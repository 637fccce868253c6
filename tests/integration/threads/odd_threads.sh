# 200 threads started and ended in waves, threads that are cancelled, threads with the smallest stack there is: all
# exact.
profile "$TARGETS/odd_threads" waves 200 10
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_kept' "2470000 2000 2470000 2000"
expect_sum '^allocate_freed' "2474000 2000 0 0"
expect_eq "threads" "$(json profile.json '(.heapprof.threads | length) + .heapprof.run.other_threads_count')" 2001

profile "$TARGETS/odd_threads" cancelled 50
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_kept' "61750 50 61750 50"
expect_sum '^allocate_for_cleanup' "61950 50 0 0"
expect_sum '^allocate_in_destructor' "62050 50 0 0"

profile "$TARGETS/odd_threads" small_stacks 50
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_kept' "61750 50 61750 50"
expect_sum '^allocate_freed' "247400 200 0 0"
# … and with all that each of them can use, under a debugger's view of the loader: symbols bound at once.
LD_BIND_NOW=1 profile "$TARGETS/odd_threads" small_stacks 50
expect_eq "exit status with LD_BIND_NOW" "$status" 0
expect_sum '^allocate_freed' "247400 200 0 0"
