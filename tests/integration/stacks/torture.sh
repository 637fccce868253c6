# Exceptions, longjmp, coroutines, signal handlers, alloca, aligned frames, callbacks: two compilers, four levels, with
# and without frame pointers. Every stack is as libunwind's unw_step finds it, and every allocation is there.
for program in "$TARGETS"/torture_*; do
  status=0
  "$HEAPPROF_BIN" run -q --all-sites --verify-stacks -o profile.json -- "$program" 60 >out.txt || status=$?
  expect_eq "exit status of $program" $status 0
  check_profile profile.json
  expect_eq "lost events of $program" "$(counter lost_count)" 0
  expect_eq "mismatches of $program" "$(counter verify_mismatched_count)" 0
  [ "$(counter verify_checked_count)" -ge "$(cat out.txt)" ] || fail "only $(counter verify_checked_count) of $(cat out.txt) stacks were compared"
  # jumps out of handlers may leave nothing behind here: signals are raised outside of the allocator
  expect_eq "abandoned events of $program" "$(counter abandoned_count)" 0
  expect_eq "allocations of $program" "$(sum '^\(anonymous namespace\)::allocate\(' | cut -d' ' -f2)" "$(cat out.txt)"
  expect_eq "leaked blocks of $program" "$(sum '^\(anonymous namespace\)::allocate\(' | cut -d' ' -f4)" 0
done
