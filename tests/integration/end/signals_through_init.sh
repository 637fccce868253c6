# Where heapprof is the first process of a container, or a subreaper, it is two processes: an init and the run. A signal
# to either, to both, or to the init at the moment at which the run gets another one, reaches the program once.
cat >reaper.py <<'P'
import ctypes, os, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
os.execvp(sys.argv[1], sys.argv[1:])
P
expect_word() {
  read -r -t 20 -u 3 word || fail "the program says nothing, where '$1' was to come ($what)"
  expect_eq "the program's word ($what)" "$word" "$1"
}
number_of() { kill -l "$1"; }
start() {  # WHAT COMMAND…: the target, after the command; its words on descriptor 3, its input held open by descriptor 4
  what=$1
  rm -f words input profile.json
  mkfifo words input
  setsid "$PYTHON" reaper.py "$HEAPPROF_BIN" run -q -o profile.json -- "${@:2}" "$TARGETS/counts_signals" >words 2>err.txt <input &
  init=$!
  exec 3<words 4>input
  expect_word ready
  run=$(pgrep -o -P $init)
}
finish() {  # another signal shows that nothing else was on its way
  kill -USR2 $init
  expect_word "$(number_of USR2) 0"
  exec 4>&-
  status=0
  wait $init || status=$?
  expect_eq "exit status ($what)" $status 6
  expect_eq "what the program says last ($what)" "$(cat <&3)" ""
}
start "to the init, as one of the run's own helpers ends"
kill -CHLD $run
kill -TERM $init
expect_word "$(number_of TERM) 0"
finish
for name in TERM INT HUP QUIT; do
  start "SIG$name to the group"
  kill -$name -- -$init
  expect_word "$(number_of $name) 0"
  finish
done
start "to both, one by one"
kill -TERM $run
kill -TERM $init
expect_word "$(number_of TERM) 0"
finish
start "to the init, with a value"
"$PYTHON" - $init <<'P'
import ctypes, signal, sys
libc = ctypes.CDLL(None)
for value in (7, 8): libc.sigqueue(int(sys.argv[1]), signal.SIGRTMIN + 2, ctypes.c_void_p(value))
P
for value in 7 8; do expect_word "$(number_of RTMIN+2) $value"; done
finish

start "each of a row, to the group that has both but not the program" setsid
"$PYTHON" - $init <<'P'
import os, signal, sys
for _ in range(5): os.killpg(int(sys.argv[1]), signal.SIGRTMIN + 3)
P
for _ in 1 2 3 4 5; do expect_word "$(number_of RTMIN+3) 0"; done
finish

# What the program sends to its parent goes up, with its value, and does not come back.
cat >parent.py <<'P'
import ctypes, signal, subprocess, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
child = "import ctypes, os, signal, time; time.sleep(0.1); ctypes.CDLL(None).sigqueue(os.getppid(), signal.SIGUSR1, ctypes.c_void_p(42)); time.sleep(0.3)"
unblock = lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
done = subprocess.run([*sys.argv[1:], sys.executable, "-c", child], preexec_fn=unblock)
got = signal.sigtimedwait([signal.SIGUSR1], 0)
print("status", done.returncode, "queued", got is not None and got.si_code == -1)
P
expect_eq "a signal with a value, upwards, without heapprof" "$("$PYTHON" parent.py)" "status 0 queued True"
expect_eq "a signal with a value, upwards" "$("$PYTHON" parent.py "$PYTHON" reaper.py "$HEAPPROF_BIN" run -q -o profile.json --)" \
  "status 0 queued True"

# The program is the container's first process to all that run there: what its child sends to PID 1 is for it, and comes
# although the child's own end, a signal to the program, follows at once.
unshare --pid --fork --mount --mount-proc true 2>/dev/null || skip "no pid namespaces"
status=0
unshare --pid --fork --mount --mount-proc "$HEAPPROF_BIN" run -q -o profile.json -- \
  bash -c 'trap "exit 9" TERM; sh -c "kill -TERM 1"; sleep 300 & wait' || status=$?
expect_eq "exit status of a program whose child ends the container" $status 9
