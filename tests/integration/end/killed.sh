# A program that is killed in the midst of its work loses nothing that it published: the profile is at most one call
# ahead.
for round in 1 2 3; do
  rm -f go counts profile.json
  mkfifo go
  "$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/ends" forever 50000 counts >go 2>err.txt &
  cli=$!
  read -r word <go
  expect_eq "the target's word" "$word" go
  kill -9 "$(pgrep -o -P $cli)"
  status=0
  wait $cli || status=$?
  expect_eq "exit status" $status 137
  check_profile profile.json
  expect_end signaled 9
  expect_complete
  expect_in err.txt SIGKILL
  read -r allocations frees < <(od -An -tu8 counts)
  read -r bytes blocks leaked_bytes leaked_blocks < <(sum '^allocate_one\(')
  [ "$allocations" -ge 50000 ] || fail "the target counted only $allocations"
  [ "$blocks" = "$allocations" ] || [ "$blocks" = $((allocations + 1)) ] || fail "$blocks blocks, the target counted $allocations"
  expect_eq "bytes" "$bytes" $((blocks * 1235))
  freed=$((blocks - leaked_blocks))
  [ "$freed" = "$frees" ] || [ "$freed" = $((frees + 1)) ] || fail "$freed freed, the target counted $frees"
done
