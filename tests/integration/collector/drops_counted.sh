# With --on-full=drop, or a collector that is stalled for longer than --stall-timeout, the program goes on without
# waiting; every event that is missing is counted, and the profile says that it is incomplete.
stall_case() {  # SECONDS FLAGS…
  local seconds=$1 cli state
  shift
  rm -f words profile.json
  mkfifo words
  "$HEAPPROF_BIN" run "$@" -o profile.json -- "$TARGETS/runs_on" 3000000 >words 2>err.txt &
  cli=$!
  exec 3<words
  read -r word <&3
  kill -STOP $cli
  read -r -t 60 word <&3 || { kill -CONT $cli; fail "with $*: the program waits for ever"; }
  kill -CONT $cli
  wait $cli || fail "with $*: exit status $?"
  check_profile profile.json
  expect_eq "complete" "$(json profile.json .heapprof.run.complete)" false
  local lost events
  lost=$(counter lost_count)
  [ "$lost" -gt 0 ] || fail "with $*: nothing was lost, the test tests nothing"
  # 3,000,000 blocks, each freed; frees_count has the frees whose malloc is missing, too
  events=$(($(counter allocations_count) + $(counter frees_count)))
  expect_eq "with $*: events seen and lost" $((events + lost)) 6000000
  expect_in err.txt "lost"
}
stall_case 0 --on-full=drop
stall_case 2 --stall-timeout 1
