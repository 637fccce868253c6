# heapprof is killed while 3 processes of 8 threads wait for it in full rings: every thread goes on, and ends as it
# would have.
mkdir run
"$HEAPPROF_BIN" run -q -o run/profile.json -- "$TARGETS/workers" counts 3 8 forever 2>err.txt &
cli=$!
"$PYTHON" - "$cli" "$SOURCE/tests/support" <<'P' || fail "the threads do not go on"
import os, signal, sys
sys.path.insert(0, sys.argv[2])
import counters, random_kills
tool, path, threads = int(sys.argv[1]), "counts", 8
def slots():
    return [s for process in random_kills.processes_of(path, threads) for s in process]
random_kills.wait_until("every thread works", lambda: len(slots()) == 24 and all(s.allocations > 0 for s in slots()))
pids = {s.pid for s in slots()}
try:
    os.kill(tool, signal.SIGSTOP)
    random_kills.stand_still(path, threads)
    before = [s.allocations for s in slots()]
    os.kill(tool, signal.SIGKILL)
    random_kills.wait_until("every thread goes on", lambda: all(s.allocations > old + 10000 for s, old in zip(slots(), before)))
finally:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
P
wait $cli 2>/dev/null || true
expect_eq "what was printed" "$(cat err.txt)" ""
expect_eq "profiles" "$(ls run)" ""

# … and a program whose collector died before it forked has children that nobody waits for in vain.
mkfifo words
"$HEAPPROF_BIN" run -q -o run/profile.json -- sh -c 'echo go; read word; '"'$TARGETS/workers'"' counts_after 3 4 done 1000; echo "status $?"' >words <<<"" &
cli=$!
exec 3<words
read -r word <&3
kill -9 $cli
read -r -t 60 word <&3 || fail "the program hangs after its collector has died"
expect_eq "the program's word" "$word" "status 0"
