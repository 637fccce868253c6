# A history as the baseline: runs of other commands, and lines that are no entries.
cp "$TARGETS/takes" .
cp "$SOURCE/tests/cli/check/baseline/takes.jsonl" ci.jsonl  # 6 runs that were ok, 9 that were not
check() { "$HEAPPROF_BIN" check --no-default-suppressions "$@"; }
export BLOCKS=100
expect_status 2 check --baseline ci.jsonl -- ./takes more
expect_in err.txt "ci.jsonl has no run of ./takes more to compare with"
echo '{"version":1,"name":"take","comm' >>ci.jsonl
expect_status 0 check --baseline ci.jsonl -- ./takes
expect_in err.txt "ci.jsonl line 16 is left out"
expect_status 2 check --baseline ci.jsonl --update-baseline -- ./takes
expect_in err.txt "--update-baseline makes a profile the baseline, and ci.jsonl is a history [HP184]"
echo rubbish >bad.jsonl
expect_status 2 check --baseline bad.jsonl -- ./takes
