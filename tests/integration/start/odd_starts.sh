# Started by what asks something of the next fork: heapprof's own forks are not the ones that were meant.
for tool in unshare nsenter pgrep; do have $tool || skip "no $tool"; done
first=''
at_end() { [ -z "$first" ] || kill -9 "$first" 2>/dev/null || true; }

# unshare --pid: the program is of the old namespace, and its first child is PID 1 of the new one. What the program has
# started goes on when it ends.
cat >first.py <<'P'
import os, subprocess, sys, time
child = "import os, time; open('child', 'w').write(str(os.getpid())); time.sleep(1); os.rename('child', 'survived')"
print("program is 1:", os.getpid() == 1, flush=True)
subprocess.Popen([sys.executable, "-c", child])
while not os.path.exists("child"): time.sleep(0.01)
os.kill(os.getpid(), 15)
print("not reached")
P
status=0
unshare --pid "$PYTHON" first.py >plain.txt 2>plain_err.txt || status=$?
if [ $status = 143 ]; then
  wait_for 20 "the child without heapprof" test -e survived
  expect_eq "without heapprof" "$(cat plain.txt survived)" "program is 1: False
1"
  rm survived
  expect_status 143 unshare --pid "$HEAPPROF_BIN" run -q -o p.json -- "$PYTHON" first.py
  wait_for 20 "the child that goes on" test -e survived
  expect_eq "under heapprof" "$(cat out.txt survived)" "program is 1: False
1"
  check_profile p.json
  # The namespace of children may have begun already.
  unshare --pid --fork sh -c 'echo >begun; exec sleep infinity' &
  wait_for 20 "a namespace" test -e begun
  first=$(pgrep -P $!)
  nsenter --target "$first" --pid --no-fork "$HEAPPROF_BIN" run -q -o p.json -- "$PYTHON" -c 'import os
child = os.fork()
if child == 0: print(os.getpid(), flush=True); os._exit(0)
os.wait()
print(child, os.readlink("/proc/self/ns/pid"))' >out.txt || fail "in a namespace that has begun: $?"
  # Its child has one number there, and another one here.
  read -r inside outside namespace <<<"$(paste -sd ' ' out.txt)"
  expect_eq "the program's namespace" "$namespace" "$(readlink /proc/self/ns/pid)"
  [ "$inside" != "$outside" ] || fail "the program's child is of the program's own namespace"
else
  not_tried "unshare --pid is not possible here: $(cat plain_err.txt)"
fi

# A policy of deadlines: no process that has it may fork.
deadlines="chrt -d --sched-runtime 2000000 --sched-deadline 20000000 --sched-period 20000000 0"
# shellcheck disable=SC2086  # words
if have chrt && $deadlines true 2>/dev/null; then
  expect_status 0 $deadlines "$HEAPPROF_BIN" run -q -o d.json -- "$PYTHON" -c 'import os; print(os.sched_getscheduler(0))'
  expect_eq "the program's policy" "$(cat out.txt)" 6
else
  not_tried "a policy of deadlines"
fi
