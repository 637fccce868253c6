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
wait_for 60 "the contract's program" pgrep -P $ours sleep >/dev/null
kill -TERM $ours
status=0
wait $ours || status=$?
expect_eq "status" "$status" 1
expect_in out.txt "end  killed by SIGTERM  expected exit 0"
