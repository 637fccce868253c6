# A signal that is sent to heapprof is handed on to the program.
cat >long.toml <<'TOML'
version = 1
[[contract]]
id = "long"
statement = "s"
command = ["sleep", "100"]
profiled = false
exit = 0
TOML
"$HEAPPROF_BIN" check --contracts long.toml >out.txt 2>err.txt &
ours=$!
for _ in $(seq 200); do pgrep -P $ours sleep >/dev/null && break; command sleep 0.05; done
kill -TERM $ours
status=0
wait $ours || status=$?
expect_eq "status" "$status" 1
expect_in out.txt "end  killed by SIGTERM  expected exit 0"
