# Started by what asks something of the next fork: heapprof's own forks are not the ones that were meant.
have unshare || skip "no unshare"

# unshare --pid: the program is of the old namespace, and its first child is PID 1 of the new one. What the program has
# started goes on when it ends.
cat >first.py <<'P'
import os, subprocess, sys, time
child = "import os, time; print('child', os.getpid(), flush=True); time.sleep(0.5); open('survived', 'w').close()"
print("program is 1:", os.getpid() == 1, flush=True)
subprocess.Popen([sys.executable, "-c", child])
time.sleep(0.2)
os.kill(os.getpid(), 15)
print("not reached")
P
if unshare --pid "$PYTHON" first.py >plain.txt 2>/dev/null || [ $? = 143 ]; then
  wait_for 20 "the child without heapprof" test -e survived
  rm survived
  expect_eq "without heapprof" "$(paste -sd ' ' plain.txt)" "program is 1: False child 1"
  expect_status 143 unshare --pid "$HEAPPROF_BIN" run -q -o p.json -- "$PYTHON" first.py
  expect_eq "under heapprof" "$(cat out.txt)" "$(cat plain.txt)"
  wait_for 20 "the child that goes on" test -e survived
  check_profile p.json
  # The new namespace may have begun already.
  unshare --pid --fork sh -c 'echo >begun; sleep 100' &
  wait_for 20 "a namespace" test -e begun
  inside=$(pgrep -P $!)
  nsenter --target "$inside" --pid --no-fork "$HEAPPROF_BIN" run -q -o p.json -- "$PYTHON" -c 'import os
if os.fork() == 0: print("child is small:", os.getpid() < 100, flush=True); os._exit(0)
os.wait()
print("program is small:", os.getpid() < 100)' >out.txt || fail "in a namespace that has begun: $?"
  expect_eq "who is in it" "$(paste -sd ' ' out.txt)" "child is small: True program is small: False"
  kill -9 "$inside"
else
  not_tried "unshare --pid is not possible here"
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
