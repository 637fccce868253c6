# A program that filters its system calls after its start (write, the mmap family, brk and exit are left) is not killed
# by one of ours, with a filter that kills and with one that refuses; nothing is lost, also where the ring is full and
# nobody reads it.
for what in filter_kills filter_refuses; do
  "$TARGETS/restricts_itself" $what || [ $? = 11 ] || skip "no seccomp filters here"
  profile "$TARGETS/restricts_itself" $what
  expect_eq "exit status of '$what'" "$status" 11
  expect_complete
  expect_end exited 11
  expect_sum '^allocate_after' "74220000 60000 4948 4"
  expect_sum '^alpha_allocate' "3717 3 3717 3"

  # libunwind makes system calls of its own: from the filter on it is not asked, and the summary says so.
  if [ -e "$BUILD/lib/heapprof/libheapprof-verify.so" ]; then
    for flag in --unwinder=libunwind --verify-stacks; do
      status=0
      "$HEAPPROF_BIN" run $flag -o profile.json -- "$TARGETS/restricts_itself" $what >out.txt 2>err.txt || status=$?
      expect_eq "exit status of '$what' with $flag" "$status" 11
      expect_complete
      expect_sum '^allocate_after' "74220000 60000 4948 4"
      expect_sum '^alpha_allocate' "3717 3 3717 3"
      expect_eq "stacks under '$what' with $flag" "$(counter verify_skipped_count)" 60003
      expect_eq "mismatches under '$what'" "$(counter verify_mismatched_count)" 0
      grep -q 'HP115' err.txt || { cat err.txt; fail "the summary does not say that libunwind was not asked"; }
    done
  fi

  # The collector stands still from before the filter until the program waits for it in a full ring, where it may not
  # even sleep.
  rm -f words input
  mkfifo words input
  "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/restricts_itself" $what ask >words <input &
  cli=$!
  exec 3<words 4>input
  read -r -t 60 word <&3
  expect_eq "the program's word" "$word" go
  target=$(pgrep -o -P $cli)
  at_end() { kill -KILL $cli 2>/dev/null || true; }
  kill -STOP $cli
  echo >&4
  # It has filled the ring when it has used the processor for longer than that takes: it waits without sleeping.
  has_filled_ring() { is_over "$target" || [ "$(awk '{ print $14 + $15 }' "/proc/$target/stat")" -ge 30 ]; }
  wait_for 60 "a full ring" has_filled_ring
  kill -CONT $cli
  status=0
  wait $cli || status=$?
  expect_eq "exit status of '$what' with a full ring" "$status" 11
  check_profile profile.json
  expect_complete
  expect_sum '^allocate_after' "74220000 60000 4948 4"
  expect_sum '^alpha_allocate' "3717 3 3717 3"
done
