# What the program, or a process below it, sends to its parent reaches heapprof's parent, as it would without heapprof,
# and does not come back to the program.
cat >parent.py <<'P'
import os, signal, subprocess, sys
number, *command = sys.argv[1:]
number = getattr(signal, number)
got = []
signal.signal(number, lambda *_: got.append(1))
code = subprocess.run(command).returncode
print("got", len(got), "exit", code)
P
cat >child.py <<'P'
import os, signal, sys, time
time.sleep(0.1)  # the program has been quiet for longer than a signal is held back
number = getattr(signal, sys.argv[1])
if len(sys.argv) > 2: signal.signal(number, signal.SIG_DFL)
os.kill(int(os.environ.get("WHOM", 0)) or os.getppid(), number)
time.sleep(0.3)
sys.exit(3)
P
for name in SIGUSR1 SIGUSR2 SIGTERM SIGHUP SIGINT SIGALRM; do
  expected=$("$PYTHON" parent.py $name "$PYTHON" child.py $name)
  expect_eq "$name without heapprof" "$expected" "got 1 exit 3"
  expect_eq "$name" "$("$PYTHON" parent.py $name "$HEAPPROF_BIN" run -q -o profile.json -- "$PYTHON" child.py $name)" "$expected"
done
# From a grandchild, who knows the number.
expect_eq "from a grandchild" \
  "$("$PYTHON" parent.py SIGUSR1 "$HEAPPROF_BIN" run -q -o profile.json -- sh -c 'WHOM=$PPID '"$PYTHON"' child.py SIGUSR1; exit $?')" "got 1 exit 3"
# To its own process group, which the parent is not in: whether the program ignores it, handles it or dies of it. What
# a parent in another group starts with the signal ignored, as xinit does, is for the parent.
cat >strange_parent.py <<'P'
import signal, subprocess, sys
number, ignored, *command = sys.argv[1:]
number = getattr(signal, number)
got = []
signal.signal(number, lambda *_: got.append(1))
start = (lambda: signal.signal(number, signal.SIG_IGN)) if ignored == "ignored" else None
code = subprocess.run(command, start_new_session=True, preexec_fn=start).returncode
print("got", len(got), "exit", code if code >= 0 else 128 - code)
P
cat >to_group.py <<'P'
import os, signal, sys, time
number = getattr(signal, sys.argv[1])
if sys.argv[2] != "default": signal.signal(number, signal.SIG_IGN if sys.argv[2] == "ignore" else lambda *_: None)
time.sleep(0.1)
os.kill(0, number)
time.sleep(0.3)
sys.exit(3)
P
for name in SIGUSR1 SIGTERM SIGHUP SIGALRM; do
  for action in ignore handle default; do
    expected=$("$PYTHON" strange_parent.py $name - "$PYTHON" to_group.py $name $action)
    got=$("$PYTHON" strange_parent.py $name - "$HEAPPROF_BIN" run -q -o profile.json -- "$PYTHON" to_group.py $name $action)
    expect_eq "$name to its group, $action" "$got" "$expected"
  done
done
expect_eq "a parent of another group that waits for it" \
  "$("$PYTHON" strange_parent.py SIGUSR1 ignored "$HEAPPROF_BIN" run -q -o profile.json -- "$PYTHON" child.py SIGUSR1)" "got 1 exit 3"
# What comes from elsewhere still goes to the program.
cat >forwards.sh <<'T'
trap 'echo program; exit 5' USR1
echo ready >ready
while :; do sleep 0.05; done
T
"$HEAPPROF_BIN" run -q -o profile.json -- bash forwards.sh >words.txt 2>err.txt &
cli=$!
wait_for 60 "the program's trap" test -s ready
kill -USR1 $cli
status=0
wait $cli || status=$?
expect_eq "exit status" $status 5
expect_eq "who got the signal from outside" "$(cat words.txt)" program
