# Soft limits of one process would end the one that watches many: heapprof raises its own, the program has what it had.
for limit in "-f 100000" "-s 32"; do
  # shellcheck disable=SC2086
  (ulimit -S $limit && sh -c 'cat /proc/self/limits' >plain.txt)
  got=0
  # shellcheck disable=SC2086
  (ulimit -S $limit && "$HEAPPROF_BIN" run -q -o p.json -- sh -c 'cat /proc/self/limits; exit 7' >under.txt) || got=$?
  expect_eq "status with $limit" "$got" 7
  cmp plain.txt under.txt || fail "other limits with $limit: $(diff plain.txt under.txt)"
  check_profile p.json
done
