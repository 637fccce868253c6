# 200 threads at once, each freeing another's blocks: nothing is lost, everything is found.
profile "$TARGETS/threads_at_once" 200 500
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_block' "123500000 100000 247000 200"
expect_sum '^allocate_table' "800000 200 0 0"
# All threads meet while everything is live.
expect_eq "peak bytes of the blocks" "$(json profile.json '.ftbl as $f | [.pps[] | select(any(.fs[]; $f[.] | test(": allocate_block"))) | .gb] | add')" 123500000
expect_eq "threads" "$(json profile.json '(.heapprof.threads | length) + .heapprof.run.other_threads_count')" 201

# More threads than there are rings: the last ones take turns with one.
profile "$TARGETS/threads_at_once" 4200 2
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_block' "10374000 8400 5187000 4200"
