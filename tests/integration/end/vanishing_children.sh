# A child that allocates for the first time when its parent has ended is profiled all the same, also on a busy machine;
# one that lives on and was never profiled is named.
mkfifo fifo
busy=""
for ((i = 0; i < $(nproc); ++i)); do
  (while :; do :; done) &
  busy="$busy $!"
done
at_end() { [ -z "$busy" ] || kill $busy 2>/dev/null || true; }
missing=0
for ((run = 0; run < 30; ++run)); do
  rm -f p*.json
  expect_status 6 "$HEAPPROF_BIN" run -o p.json -- "$TARGETS/outlived" $((run % 6 * 10)) fifo
  child=$(head -1 out.txt)
  if [ ! -f p.$child.json ]; then
    missing=$((missing + 1))
    # Then a line must say so.
    expect_in err.txt "[HP187]"
  else
    expect_sum '^allocate_late' "6185 5 6185 5" p.$child.json
  fi
done
[ $missing -le 2 ] || fail "$missing of 30 children had no profile"
kill $busy
busy=

expect_status 6 "$HEAPPROF_BIN" run -o p.json -- "$TARGETS/outlived" never fifo
child=$(cat out.txt)
expect_in err.txt "1 process that the program started ran on after its end and was never profiled: outlived ($child) [HP187]"
expect_eq "times that it is said" "$(grep -c HP187 err.txt)" 1
check_profile p.json
expect_eq "what the profile says of it" "$(counter never_profiled_count p.json)" 1
expect_complete p.json
[ -d /proc/$child ] || fail "the child is gone"
echo x >fifo

# Nobody waits for what does not come, nor says anything, where nobody is followed.
expect_status 6 "$HEAPPROF_BIN" run --no-follow -o p.json -- "$TARGETS/outlived" never fifo
expect_not_in err.txt "HP187"
echo x >fifo
