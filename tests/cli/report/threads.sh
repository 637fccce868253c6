# report --threads says what each thread allocated and freed; JSON has it always, CSV and other views do not.
with_leaky_profile leaky.json
expect_status 0 "$HEAPPROF_BIN" report --threads leaky.json
expect_in out.txt "THREADS host  1 thread, by what each allocated in all"
expect_in out.txt "leaky"
expect_status 0 "$HEAPPROF_BIN" report --format json leaky.json
expect_eq "the thread's bytes are the heap's" "$(jq '.threads[0].total_bytes == .devices[0].total_bytes' out.txt)" true
expect_eq "and its allocations" "$(jq '.threads[0].allocations_count == .devices[0].allocations_count' out.txt)" true
expect_status 0 "$HEAPPROF_BIN" report --threads --sizes leaky.json
expect_in out.txt "THREADS host"
expect_in out.txt "SIZES host"
expect_status 0 "$HEAPPROF_BIN" report --threads "$foreign/valgrind_heap.json"
expect_in out.txt "does not say what threads allocated"
for other in --tree --all-frames --list-suppressions --findings "--format csv"; do
  # shellcheck disable=SC2086
  expect_status 2 "$HEAPPROF_BIN" report $other --threads leaky.json
  expect_in err.txt "$other"
  expect_in err.txt "--threads"
done
