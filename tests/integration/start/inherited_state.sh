# The program starts as it would without heapprof: signals, limits, descriptors, folder, and all of its environment but
# two variables.
cat >state.sh <<'S'
grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|Umask|NoNewPrivs|Seccomp:|CapEff)' /proc/self/status
$PYTHON -c '
import os  # what has allocated in the process itself: threads, signals, descriptors
print([line for line in open("/proc/self/status") if line.startswith(("Threads", "SigIgn", "SigBlk", "SigCgt", "ShdPnd"))], sorted(os.listdir("/proc/self/fd")))'
ulimit -a
umask
ls -l /proc/self/fd | awk '{ print $9 }' | sort
pwd
nice
env | grep -vE '^(LD_PRELOAD|HEAPPROF|_|SHLVL|PWD|OLDPWD)=' | sort
echo "$0" "$@"
S
export PYTHON ODD_VARIABLE='a b
c' EMPTY_VARIABLE=
bash state.sh "an argument" '' '*' >plain.txt 2>&1 </dev/null
"$HEAPPROF_BIN" run -q -o profile.json -- bash state.sh "an argument" '' '*' >profiled.txt 2>&1 </dev/null
diff plain.txt profiled.txt || fail "the program was started in another state"
# … also when it is started in an unusual one.
(trap '' PIPE TSTP XFSZ USR1; umask 027; ulimit -S -n 123; nice -n 3 bash state.sh >plain.txt 2>&1 5</dev/null)
(trap '' PIPE TSTP XFSZ USR1; umask 027; ulimit -S -n 123; nice -n 3 "$HEAPPROF_BIN" run -q -o profile.json -- bash state.sh >profiled.txt 2>&1 5</dev/null)
diff plain.txt profiled.txt || fail "the program did not inherit an unusual state"
# … and each run of a check, whatever heapprof has changed of its own in the one before, also without heapprof.
cat >contracts.toml <<'T'
version = 1
[[contract]]
id = "seen"
statement = "It ends well"
command = ["bash", "-c", "exec bash state.sh >state.$$ 2>&1 5</dev/null"]
exit = 0
runs = 2
[[contract]]
id = "unseen"
statement = "It ends well without heapprof"
command = ["bash", "-c", "exec bash state.sh >state.$$ 2>&1 5</dev/null"]
profiled = false
exit = 0
T
(trap '' PIPE TSTP XFSZ USR1; umask 027; ulimit -S -n 123; nice -n 3 "$HEAPPROF_BIN" check -q --contracts contracts.toml)
expect_eq "runs of the check" "$(ls state.* | grep -c '[0-9]$')" 3
for state in state.*[0-9]; do diff plain.txt $state || fail "a run of a check was started in another state"; done
# Each program that it starts is told about the collector by the same two variables, and --no-follow takes them away.
"$HEAPPROF_BIN" run -q -o profile.json -- env | grep -E '^(LD_PRELOAD|HEAPPROF)=' | cut -d= -f1 | sort >variables.txt
expect_eq "our variables" "$(tr '\n' ' ' <variables.txt)" "HEAPPROF LD_PRELOAD "
expect_eq "with --no-follow" "$("$HEAPPROF_BIN" run -q --no-follow -o profile.json -- env | grep -cE '^(LD_PRELOAD|HEAPPROF)=')" 0
