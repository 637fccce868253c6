# Where heapprof's own memory is limited, recording stops in time: the program is unharmed, the profile is whole up to
# that moment, and says why it ends. Block n of collector_load has n % 16 + 1 bytes, so the bytes follow from the number
# of blocks.

# expect_exact_part FILE: the numbers are those of the program's first blocks
expect_exact_part() {
  local blocks bytes
  blocks=$(json "$1" '.heapprof.devices[0].totals.total_count')
  bytes=$(json "$1" '.heapprof.devices[0].totals.total_bytes')
  expect_eq "bytes of the first $blocks blocks in $1" "$bytes" $((blocks / 16 * 136 + blocks % 16 * (blocks % 16 + 1) / 2))
  [ "$blocks" -gt 0 ] || fail "nothing was recorded"
}

# expect_stopped FILE: complete is false, the reason is the limit, and every rule holds
expect_stopped() {
  check_profile "$1"
  expect_eq "complete" "$(json "$1" .heapprof.run.complete)" false
  [[ $(json "$1" .heapprof.run.incomplete_reason) == "heapprof reached its memory limit"* ]] || fail "$(json "$1" .heapprof.run.incomplete_reason)"
  expect_eq "lost" "$(counter lost_count "$1")" 0
  expect_exact_part "$1"
}

# The flag.
for load in "stacks 15" "blocks 1000000"; do
  status=0
  "$HEAPPROF_BIN" run --max-memory 24MiB -o profile.json -- "$TARGETS/collector_load" $load >out.txt 2>err.txt || status=$?
  expect_eq "exit status" $status 0
  expect_in err.txt "heapprof reached its memory limit of 24.0 MiB (--max-memory) at "
  expect_in err.txt "[HP093]"
  expect_in err.txt "fix:"
  expect_stopped profile.json
  expect_end exited 0
  [ "$(json profile.json .heapprof.devices[0].totals.total_count)" -lt "$(cat out.txt)" ] || fail "it was not stopped"
done
expect_status 125 "$HEAPPROF_BIN" run --max-memory 1MiB -- true
expect_in err.txt "[HP052]"
profile "$TARGETS/collector_load" blocks 100000
expect_complete

# A child that takes much is stopped; the others are not.
"$HEAPPROF_BIN" run --max-memory 24MiB -o tree.json -- bash -c '"$1" stacks 15; "$1" stacks 3; true' - "$TARGETS/collector_load" >out.txt 2>err.txt || fail "status $?"
expect_eq "output" "$(tr '\n' ' ' <out.txt)" "32768 8 "
stopped=0 whole=0
for file in tree.*.json; do
  check_profile "$file"
  case $(json "$file" '.heapprof.run | "\(.command[2]) \(.complete)"') in
    "15 false") stopped=$((stopped + 1)); expect_stopped "$file" ;;
    "3 true") whole=$((whole + 1)) ;;
  esac
done
expect_eq "stopped and whole children" "$stopped $whole" "1 1"

# The system's limits, of heapprof alone: the program lifts its own. Whatever the limit, the program is as without us;
# and if heapprof can start at all there is a profile, be it without names or stacks.
for limit in "v 22000" "v 26000" "v 50000" "d 7000" "d 22000"; do
  for load in "stacks 13" "blocks 200000"; do
    rm -f profile.json
    status=0
    (
      ulimit -c 0
      ulimit -S -$limit || exit 99
      exec "$HEAPPROF_BIN" run -o profile.json -- bash -c 'ulimit -S -v unlimited; ulimit -S -d unlimited; exec "$@"' - "$TARGETS/collector_load" $load
    ) >out.txt 2>err.txt || status=$?
    [ $status != 99 ] || skip "ulimit -$limit is refused here"
    [ "$(cat out.txt)" = "${load/stacks 13/8192}" ] || [ "blocks $(cat out.txt)" = "$load" ] || fail "$limit, $load: output '$(cat out.txt)'"
    if [ $status = 125 ] && grep -q '\[HP095\]' err.txt; then continue; fi  # no room even to begin: said, and the program ran as it is
    [ -f profile.json ] || { cat err.txt >&2; fail "no profile at ulimit -$limit, $load (status $status)"; }
    if [ "$(json profile.json .heapprof.run.complete)" = false ]; then
      expect_stopped profile.json
      expect_in err.txt "[HP093]"
    fi
    expect_eq "status at ulimit -$limit, $load" $status 0
  done
done
