# What waits for heapprof sees the end that the program had: of SIGINT and SIGQUIT as a death by that signal, without a
# core file, so that Ctrl-C ends a shell's loop. A status of 130 stays one.
ulimit -c unlimited 2>/dev/null || true
cat >waits.py <<'PY'
import subprocess
import sys
print(subprocess.run(sys.argv[1:], check=False).returncode)
PY
waits() { "$PYTHON" waits.py "$HEAPPROF_BIN" run -q -o profile.json -- "$@"; }
for signal in 2 3; do
  expect_eq "raises $signal" "$(waits "$TARGETS/raises" $signal)" "-$signal"
  expect_end signaled $signal
done
rm -f core core.*  # the program's own
expect_eq "raises 15" "$(waits "$TARGETS/raises" 15)" 143
expect_eq "exit 130" "$(waits "$TARGETS/exit_code" 130)" 130
if have file && [ "$(cat /proc/sys/kernel/core_pattern)" = core ] && [ "$(ulimit -c)" = unlimited ]; then
  expect_eq "a core file" "$(waits sh -c 'kill -QUIT $$')" -3
  file core* >cores.txt  # the program's own is there
  expect_in cores.txt "sh -c"
  expect_eq "core files of ours" "$(grep -c bin/heapprof cores.txt)" 0
else
  not_tried "this machine writes no core files here"
fi

# A contract that claims such an end is judged all the same.
cat >contracts.toml <<TOML
version = 1
[[contract]]
id = "interrupted"
statement = "Ctrl-C ends it"
command = ["$TARGETS/raises", "2"]
exit = "SIGINT"
TOML
expect_status 0 "$HEAPPROF_BIN" check --contracts contracts.toml

# So it is where a process of ours does the run for a subreaper. PID 1 of a container dies of no such signal.
cat >reaper.py <<'PY'
import ctypes
import os
import sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
os.execvp(sys.argv[1], sys.argv[1:])
PY
for signal in 2 3; do
  expect_eq "a subreaper, $signal" \
    "$("$PYTHON" waits.py "$PYTHON" reaper.py "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/raises" $signal)" "-$signal"
done
if unshare --pid --fork --mount-proc true 2>/dev/null; then
  expect_status 130 unshare --pid --fork --mount-proc "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/raises" 2
else
  not_tried "PID 1: no pid namespaces"
fi

# A terminal's Ctrl-C, and the loop around us.
cat >types.py <<'PY'
import os
import pty
import sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "-c", sys.argv[1]])
said = b""
while b"ready" not in said:
    said += os.read(terminal, 4096)
os.write(terminal, b"\x03")
try:
    while part := os.read(terminal, 4096):
        said += part
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), b"after" in said)
PY
waiting='echo ready; exec cat'
expect_eq "without us" "$("$PYTHON" types.py "sh -c '$waiting'; echo after")" "-2 False"
expect_eq "with us" "$("$PYTHON" types.py "$HEAPPROF_BIN run -q -o profile.json -- sh -c '$waiting'; echo after")" "-2 False"
check_profile profile.json
