# A profile that exists is judged by a history as a run is.
cp "$TARGETS/takes" .
cp "$SOURCE/tests/cli/check/baseline/takes.jsonl" ci.jsonl  # 6 runs that were ok, 9 that were not
check() { "$HEAPPROF_BIN" check --no-default-suppressions "$@"; }
export BLOCKS=100
expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- ./takes
expect_status 0 check --baseline ci.jsonl p.json
BLOCKS=120
expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- ./takes
expect_status 1 check --baseline ci.jsonl p.json
