# As the first process of a container, and as a subreaper, heapprof waits for orphans, forwards signals, and is found by
# that process's number.
reaps() {  # what is run: five orphans that end at once, and a word when none of them is a zombie any more
  cat <<'P'
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
kept = [bytearray(1235) for _ in range(3)]
for _ in range(5): subprocess.run(["sh", "-c", "true &"])
def zombies():
    states = [open(f"/proc/{pid}/stat").read() for pid in os.listdir("/proc") if pid.isdigit() and os.access(f"/proc/{pid}/stat", os.R_OK)]
    return sum(") Z " in state for state in states if state.rsplit(")")[-1].split()[1] != str(os.getpid()))
for _ in range(400):
    if zombies() == 0: break
    time.sleep(0.05)
print("zombies", zombies(), flush=True)
time.sleep(60)
P
}
reaps >reaps.py
unshare --pid --fork --mount --mount-proc true 2>/dev/null || skip "no pid namespaces"
mkfifo words
unshare --pid --fork --mount --mount-proc "$HEAPPROF_BIN" run -q -o profile.json -- "$PYTHON" reaps.py >words 2>err.txt &
around=$!
exec 3<words
read -r -t 60 -u 3 word || fail "nothing is said: $(cat err.txt)"
expect_eq "the program's word" "$word" "zombies 0"
first=$(pgrep -o -P $around)
nsenter --target "$first" --pid --mount "$HEAPPROF_BIN" snapshot -q -o "$PWD/now.json" 1 || fail "there is no snapshot of 1"
check_profile now.json
kill -TERM "$first"
status=0
wait $around || status=$?
expect_eq "exit status" $status 7
check_profile profile.json
expect_end exited 7

# A check becomes the init before it begins: its runs, its verdict and its outputs are there once.
cat >reaper.py <<'P'
import ctypes, os, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
os.execvp(sys.argv[1], sys.argv[1:])
P
cat >two.toml <<T
version = 1
[[contract]]
id = "seen"
statement = "It ends well"
command = ["$TARGETS/leaky"]
exit = 0
peak = { host = "1GiB" }
[[contract]]
id = "unseen"
statement = "It ends so"
command = ["sh", "-c", "exit 3"]
profiled = false
exit = 3
T
for around in "unshare --pid --fork --mount --mount-proc" "$PYTHON reaper.py"; do
  for limit in "1GiB 0" "1B 1"; do
    status=0
    $around "$HEAPPROF_BIN" check --runs 2 --max-peak host=${limit% *} --json verdict.json -- "$TARGETS/leaky" >out.txt 2>err.txt || status=$?
    expect_eq "exit status of a check ($around, $limit)" "$status $(cat err.txt)" "${limit#* } "
    expect_eq "verdicts ($around, $limit)" "$(grep -c "leaky  host peak" out.txt)" 1
  done
  $around "$HEAPPROF_BIN" check --contracts two.toml >out.txt 2>&1 || fail "contracts ($around): $(cat out.txt)"
done
