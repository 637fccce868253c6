# Contracts that a Ctrl-C leaves over are named.
cat >long.toml <<'TOML'
version = 1
[[contract]]
id = "long"
statement = "s"
command = ["sleep", "100"]
profiled = false
exit = 0
TOML
sed 's/"long"/"second"/' long.toml | tail -n +2 >>long.toml
"$PYTHON" -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
  "$HEAPPROF_BIN" check --contracts long.toml --json long.json >out.txt 2>err.txt &  # a shell's background ignores it
ours=$!
wait_for 60 "the contract's program" pgrep -P $ours sleep >/dev/null
kill -INT $ours
status=0
wait $ours || status=$?
expect_eq "status after Ctrl-C" "$status" 3
expect_eq "verdicts after Ctrl-C" "$(jq -r '[.checks[] | .name + " " + .outcome] | join(", ")' long.json)" "long fail, second not judged"
