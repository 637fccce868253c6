# A program that failed becomes no baseline, and no line of a history.
with_leaky_profile p.json
cp "$TARGETS/exit_code" .
expect_status 4 check --max-peak 1GiB -- ./exit_code 7
jq ".heapprof.run.status = 7" p.json >crashed.json
expect_status 3 check --max-leaked 1MiB --baseline crashed.json p.json
"$HEAPPROF_BIN" history --add ci.jsonl crashed.json 2>/dev/null && fail "a failed run is in the history"
expect_status 4 check --baseline none.json --update-baseline heapprof.check.exit_code.json
[ ! -e none.json ] || fail "a failed program became a baseline"
