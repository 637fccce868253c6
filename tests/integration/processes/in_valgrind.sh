# A program that runs in Valgrind beside us: Memcheck finds what it finds alone, and complains of nothing of ours.
have valgrind || skip "valgrind is not installed"
memcheck=(valgrind -q --leak-check=full --error-exitcode=9)
said() { sed -E 's/==[0-9]+==/==/; s/0x[0-9A-Fa-f]+/ADDRESS/g' err.txt; }
same() {  # COMMAND…
  local want_status=0 got_status=0
  "${memcheck[@]}" "$@" >want.txt 2>err.txt || want_status=$?
  said >want_err.txt
  "$HEAPPROF_BIN" run -q -o profile.json -- "${memcheck[@]}" "$@" >out.txt 2>err.txt || got_status=$?
  said >got_err.txt
  expect_eq "$1: exit status" "$got_status" "$want_status"
  expect_eq "$1: what it says" "$(cat out.txt)" "$(cat want.txt)"
  expect_eq "$1: what Valgrind says" "$(cat got_err.txt)" "$(cat want_err.txt)"
}
same "$TARGETS/exit_code" 3
same "$TARGETS/leaky"
same /bin/bash -c 'echo $((1 + 2)); /bin/true'
same "$PYTHON" -c 'print(len([bytearray(1000) for _ in range(100)]))'
cat >threads.py <<'PY'
import subprocess
import threading

codes = []
def work():
    codes.append(subprocess.run(["/bin/sh", "-c", "exit 7"]).returncode)
threads = [threading.Thread(target=work) for _ in range(3)]
for one in threads: one.start()
for one in threads: one.join()
print(codes)
PY
same "$PYTHON" threads.py
# It is the program that the profile is of, and not Valgrind; its frames of Python are read.
cat >lists.py <<'PY'
kept = [bytearray(1000) for _ in range(100)]
PY
"$HEAPPROF_BIN" run -q -o profile.json -- valgrind -q --tool=none "$PYTHON" lists.py
expect_eq "the executable" "$(json profile.json .heapprof.run.executable)" "$(realpath "$PYTHON")"
"$HEAPPROF_BIN" report profile.json >report.txt
expect_in report.txt "$PYTHON lists.py"
expect_in report.txt "lists.py:1"

# A tool that serves malloc itself leaves nothing to be counted: that is said, of a child, too, and it is not judged.
"$HEAPPROF_BIN" run -o profile.json -- "${memcheck[@]}" "$TARGETS/exit_code" 0 >out.txt 2>err.txt
expect_in err.txt "was counted: Valgrind's tool serves malloc itself [HP346]"
"$HEAPPROF_BIN" report profile.json >report.txt 2>&1
expect_in report.txt "[HP346]"
status=0
"$HEAPPROF_BIN" check --max-peak 10MiB --processes each -- sh -c 'valgrind -q "$0" 0; :' "$TARGETS/exit_code" >out.txt 2>err.txt || status=$?
expect_eq "exit status where a child is not judged" "$status" 3
expect_in err.txt "[HP346]"
status=0
"$HEAPPROF_BIN" check --max-peak 1KiB --json x.json -- valgrind -q "$TARGETS/exit_code" 0 >out.txt 2>err.txt || status=$?
expect_eq "exit status of what is not judged" "$status" 3
expect_in err.txt "nothing on the heap of $TARGETS/exit_code was counted"
expect_eq "what becomes of it" "$(jq -r '.checks[0].outcome' x.json)" incomplete
# What it leaves to the program is counted.
"$HEAPPROF_BIN" run -q -o profile.json -- valgrind -q --soname-synonyms=somalloc=nouserintercepts "$TARGETS/leaky" >out.txt 2>err.txt
expect_complete
expect_eq "blocks that are counted" "$(json profile.json '.heapprof.counters.allocations_count > 0')" true
