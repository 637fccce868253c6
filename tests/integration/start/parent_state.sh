# What an exec keeps and a fork loses, the program has all the same: the signal for its parent's death, that it is a
# subreaper, its scheduling, and variables that name the process that they are meant for.
cat >begin.py <<'P'
import ctypes, os, sys
libc = ctypes.CDLL(None)
what, *command = sys.argv[1:]
if "reaper" in what: libc.prctl(36, 1, 0, 0, 0)
if "death" in what: libc.prctl(1, 10, 0, 0, 0)
if "pids" in what:
    for name in ("LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID"): os.environ[name] = str(os.getpid())
    os.environ["OTHER_PID"] = str(os.getpid())
os.execvp(command[0], command)
P
cat >look.py <<'P'
import ctypes, os
libc = ctypes.CDLL(None)
value = ctypes.c_int()
libc.prctl(2, ctypes.byref(value), 0, 0, 0)
print("death signal", value.value, end=" ")
libc.prctl(37, ctypes.byref(value), 0, 0, 0)
print("subreaper", value.value, *[name for name in ("LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID", "OTHER_PID") if os.environ.get(name) == str(os.getpid())])
P
run="$HEAPPROF_BIN run -q -o profile.json --"
for what in none death reaper death,reaper; do
  expect_eq "state ($what)" "$("$PYTHON" begin.py $what $run "$PYTHON" look.py)" "$("$PYTHON" begin.py $what "$PYTHON" look.py)"
done
# A fork resets the scheduling policy, the priority and a negative nice value, if it is told to; an exec does not.
cat >scheduled.py <<'P'
import os, sys
policy = getattr(os, sys.argv[1])
try:
    if sys.argv[1] == "SCHED_OTHER": os.setpriority(os.PRIO_PROCESS, 0, -3)
    os.sched_setscheduler(0, policy | os.SCHED_RESET_ON_FORK, os.sched_param(5 if policy == os.SCHED_FIFO else 0))
except PermissionError:
    sys.exit(print("not permitted"))
os.execvp(sys.argv[2], sys.argv[2:])
P
cat >scheduling.py <<'P'
import os
print("policy", hex(os.sched_getscheduler(0)), os.sched_getparam(0), "nice", os.nice(0))
P
for policy in SCHED_FIFO SCHED_OTHER; do
  expect_eq "scheduling ($policy)" "$("$PYTHON" scheduled.py $policy $run "$PYTHON" scheduling.py)" \
    "$("$PYTHON" scheduled.py $policy "$PYTHON" scheduling.py)"
done
expect_eq "variables" "$("$PYTHON" begin.py pids $run "$PYTHON" look.py)" "death signal 0 subreaper 0 LISTEN_PID WATCHDOG_PID SYSTEMD_EXEC_PID"
expect_eq "variables, where the run is done by a child" "$("$PYTHON" begin.py pids,reaper $run "$PYTHON" look.py)" \
  "death signal 0 subreaper 1 LISTEN_PID WATCHDOG_PID SYSTEMD_EXEC_PID"
# Variables that name another process stay.
expect_eq "another's" "$(LISTEN_PID=1 WATCHDOG_PID='' $run sh -c 'echo $LISTEN_PID,$WATCHDOG_PID')" "1,"

# When the parent dies by SIGKILL, so does heapprof, and so does the program.
for what in kill kill,reaper; do
  rm -f pid
  cat >dies.py <<'P'
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
if os.fork() == 0:
    if "reaper" in sys.argv[1]: libc.prctl(36, 1, 0, 0, 0)
    libc.prctl(1, 9, 0, 0, 0)
    os.execvp(sys.argv[2], sys.argv[2:])
while not os.path.exists("pid"): time.sleep(0.01)
os._exit(0)
P
  "$PYTHON" dies.py $what $run sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 100' 2>err.txt
  program=$(cat pid)
  (wait_for 60 "the program's end with the parent's ($what)" is_over "$program") || { kill "$program"; exit 1; }
done

# A signal that the program itself asks for at its parent's death comes with heapprof's parent's, also where an exec
# came between; not what it asks for no more.
cat >asks.py <<'P'
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None)
if "syscall" in sys.argv[1]: libc.syscall(157, 1, 12, 0, 0, 0)
elif sys.argv[1] != "asked": libc.prctl(1, 12, 0, 0, 0)
if "exec" in sys.argv[1]: os.execv(sys.executable, [sys.executable, sys.argv[0], "asked"])
if "withdraws" in sys.argv[1]: libc.prctl(1, 0, 0, 0, 0)
def end(text):
    open("word.new", "w").write(text)
    os.rename("word.new", "word")
    os._exit(0)
signal.signal(signal.SIGUSR2, lambda *_: end("signal"))
open("ready", "w").close()
time.sleep(1 if "withdraws" in sys.argv[1] else 20)
end("none")
P
cat >leaves.py <<'P'
import os, subprocess, sys, time
open("run.pid", "w").write(str(subprocess.Popen(sys.argv[1:]).pid))
while not os.path.exists("ready"): time.sleep(0.01)
P
for what in prctl syscall exec withdraws; do
  rm -f word ready
  "$PYTHON" leaves.py $run "$PYTHON" asks.py $what
  wait_for 60 "the program's word ($what)" test -e word
  wait_for 60 "the end of heapprof ($what)" is_over "$(cat run.pid)"  # it writes its profile here until then
  expected=signal
  [ $what != withdraws ] || expected=none
  expect_eq "the parent's death ($what)" "$(cat word)" $expected
done
