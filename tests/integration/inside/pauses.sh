# What threads allocate in pauses is left out, and nothing else is: by function and to the byte, with blocks that other
# threads free and resize, by each kind of stamp, killed or not.
books() { "$PYTHON" "$SOURCE/tests/support/pause_books.py" "$@"; }
# paused STATUS SEED THREADS OPERATIONS HOW [FLAGS_OF_RUN…]
paused() {
  local status=$1 seed=$2 threads=$3 operations=$4 how=$5
  shift 5
  expect_status "$status" "$HEAPPROF_BIN" run -q "$@" -o profile.json -- \
    "$TARGETS/pauses" "$seed" "$threads" "$operations" "$how" books.txt
  check_profile profile.json
  expect_complete
  books profile.json books.txt || fail "seed $seed, $threads threads, $how, '$*': not what was recorded"
  expect_eq "frees of what was never seen" "$(json profile.json .heapprof.counters.foreign_frees_count)" 0
  expect_eq "blocks that ended unseen" "$(json profile.json .heapprof.counters.unseen_frees_count)" 0
}
for threads in 1 2 8 32; do paused 0 $threads $threads $((100000 / threads)) exit; done
paused 0 101 8 20000 exit --clock sequence
paused 0 102 8 20000 exit --clock sequence --fence producer
paused 0 103 8 20000 exit --collector-threads 2
paused 137 104 8 20000 KILL
expect_status 0 "$TARGETS/pauses" 1 4 4000 exit books.txt  # without a profiler

functions() { json "$1" '[.heapprof.counters | .left_out_count, .left_out_bytes, .left_out_live_bytes, .left_out_ended_count] | tostring'; }
profile "$TARGETS/pauses" cpp
check_profile profile.json
expect_eq "left out" "$(functions profile.json)" '[5,180,30,3]'
# Without the reserve that libstdc++ takes at its start.
expect_eq "recorded: live bytes, live blocks, all bytes" \
  "$(json profile.json '[.pps[] | select(.tb < 10000)] | [(map(.eb) | add), (map(.ebk) | add), (map(.tb) | add)] | tostring')" '[60,1,167]'
"$HEAPPROF_BIN" report profile.json >report.txt
expect_in report.txt "left out, as the program paused: 5 allocs of 180 B, live at exit 30 B"

# A forked child begins outside of all pauses, and its parent's block is that of a parent.
"$HEAPPROF_BIN" run -q -o fork.json -- "$TARGETS/pauses" fork
expect_eq "the parent's" "$(functions fork.json)" '[2,1268,1268,0]'
child=$(echo fork.*.json)
check_profile "$child"
expect_eq "the child's" "$(functions "$child")" '[1,5,5,0]'
expect_eq "recorded in the child" "$(json "$child" '.heapprof.devices[0].totals.total_bytes')" 77
