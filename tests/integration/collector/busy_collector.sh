# A new process waits for a collector that is busy for longer than a second, and is profiled; not for one that has been
# stopped.
cat >script <<'S'
echo $PPID
read -r word
"$1"
echo "status $?"
S
start() {
  rm -f words input profile*.json
  mkfifo words input
  "$HEAPPROF_BIN" run -q -o profile.json -- bash script "$TARGETS/leaky" >words <input &
  cli=$!
  exec 3<words 4>input
  read -r -t 60 word <&3
  expect_eq "the program's parent" "$word" $cli
}
end() {
  echo go >&4
  read -r -t 60 word <&3 || fail "the program hangs"
  expect_eq "the child's end" "$word" "status 0"
}
child_profiles() { grep -l '"cmd":"[^ "]*leaky"' profile.*.json 2>/dev/null | wc -l; }

start
kill -STOP $cli
end
kill -CONT $cli
wait $cli || fail "exit status $?"
expect_eq "profiles of a child that could not wait" "$(child_profiles)" 0

# A frozen process is one that gets no processor: for the agent, it is as if the machine were busy with something else.
[ "$(id -u)" = 0 ] || skip "to freeze a process takes root: only a stopped collector was tried"
name=heapprof-test-$$
if [ -d /sys/fs/cgroup/freezer ]; then
  group=/sys/fs/cgroup/freezer/$name state=freezer.state frozen=FROZEN thawed=THAWED
else
  group=/sys/fs/cgroup/$name state=cgroup.freeze frozen=1 thawed=0
fi
mkdir "$group" 2>/dev/null && [ -e "$group/$state" ] || { rmdir "$group" 2>/dev/null; skip "no freezer cgroup here: only a stopped collector was tried"; }
at_end() { echo $thawed >"$group/$state" 2>/dev/null || true; [ -z "$cli" ] || kill -9 $cli 2>/dev/null || true; rmdir "$group" 2>/dev/null || true; }
is_frozen() { if [ $frozen = FROZEN ]; then grep -qx FROZEN "$group/$state"; else grep -qx "frozen 1" "$group/cgroup.events"; fi; }
start
echo $cli >"$group/cgroup.procs"
echo $frozen >"$group/$state"
wait_for 60 "the collector is frozen" is_frozen
echo go >&4
sleep 2.5  # the time itself is what is tried: longer than the agent's first wait
echo $thawed >"$group/$state"
read -r -t 60 word <&3 || fail "the program hangs"
expect_eq "the child's end" "$word" "status 0"
wait $cli || fail "exit status $?"
cli=
expect_eq "profiles of the child that waited" "$(child_profiles)" 1
