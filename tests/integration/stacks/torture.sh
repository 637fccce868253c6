# Exceptions, longjmp, coroutines, signal handlers, alloca, aligned frames, callbacks: two compilers, four levels, with
# and without frame pointers. Every stack is as libunwind's unw_step finds it, and every allocation is there.
# libunwind crashes on signed return addresses: a program that has them has the stacks of the same one without.
all_stacks() { "$PYTHON" "$SOURCE/tests/support/sites.py" profile.json stacks .; }
for program in "$TARGETS"/torture_*; do
  status=0
  "$HEAPPROF_BIN" run -q --all-sites --verify-stacks -o profile.json -- "$program" 60 >out.txt || status=$?
  expect_eq "exit status of $program" $status 0
  check_profile profile.json
  expect_eq "lost events of $program" "$(counter lost_count)" 0
  expect_eq "mismatches of $program" "$(counter verify_mismatched_count)" 0
  expect_eq "truncated stacks of $program" "$(counter truncated_stacks_count)" 0
  compared=verify_checked_count
  [[ $program != *_signed ]] || compared=verify_skipped_count
  [ "$(counter $compared)" -ge "$(cat out.txt)" ] || fail "only $(counter $compared) of $(cat out.txt) stacks: $compared"
  case $program in
    *_gcc_O2) all_stacks >unsigned.txt ;;
    *_signed) all_stacks | diff unsigned.txt - >&2 || fail "other stacks with signed return addresses" ;;
  esac
  # jumps out of handlers may leave nothing behind here: signals are raised outside of the allocator
  expect_eq "abandoned events of $program" "$(counter abandoned_count)" 0
  expect_eq "allocations of $program" "$(sum '^\(anonymous namespace\)::allocate\(' | cut -d' ' -f2)" "$(cat out.txt)"
  expect_eq "leaked blocks of $program" "$(sum '^\(anonymous namespace\)::allocate\(' | cut -d' ' -f4)" 0
done
