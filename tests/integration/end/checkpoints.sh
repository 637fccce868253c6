# heapprof and its program are killed together: what is left is a profile of what there was, whole, and nothing else.
# begin PATTERN OPTIONS…: a run in a process group of its own, until it has allocated and a file of that name is there;
# the group in $group
begin() {
  local pattern=$1
  shift
  rm -f ready
  setsid "$HEAPPROF_BIN" run -q "$@" -- "$TARGETS/grows_and_waits" "$PWD/ready" >/dev/null 2>&1 &
  group=$!
  wait_for 120 "$pattern" has_checkpoint "$pattern"
}
has_checkpoint() { [ -n "$(find . -maxdepth 1 -name "$1" -size +0)" ] && [ -s ready ]; }
at_end() { [ -z "${group:-}" ] || kill -9 -- -$group 2>/dev/null || true; }
end_all() {
  kill -9 -- -$group
  wait $group 2>/dev/null || true
}

begin 'profile.[0-9]*.json' -o profile.json --interval 50ms
[ -s profile.json ] || fail "the child has a checkpoint, the program has none"
end_all
check_profile profile.json profile.[0-9]*.json
expect_end running 0
expect_eq "blocks that are live" "$(json profile.json '[.pps[].ebk] | add')" 3
expect_eq "those of the child" "$(jq '[.pps[].ebk] | add' profile.[0-9]*.json)" 5
"$HEAPPROF_BIN" report profile.json >report.txt 2>report.err
sed -n 2p report.txt | grep -q "after its start: the program was running still" || fail "$(head -3 report.txt)"
expect_in report.txt grow  # whether it was written with names or not
rm -f profile* report* ready
expect_eq "files beside it" "$(ls -A)" ""

# Without a name, and without being asked for: with a dot before the name, as the program may look at its folder.
begin '.heapprof.grows_and_waits.*.json'
end_all
check_profile .heapprof.grows_and_waits.*.json
rm -f .heapprof.* ready

# The run's end takes its place.
begin profile.json -o profile.json --interval 50ms
pkill -9 -g $group grows_and_waits
wait $group || true
check_profile profile.json
expect_end signaled 9
expect_sum '^grow' "3705 3 3705 3"
