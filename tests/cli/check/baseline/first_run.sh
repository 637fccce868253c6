# A history without a run of the command: an error, but where this check writes the history a warning, and its run is
# the first.
cp "$TARGETS/takes" .
check() { "$HEAPPROF_BIN" check --no-default-suppressions "$@"; }
export BLOCKS=100
expect_status 2 check --baseline ci.jsonl -- ./takes
expect_in err.txt "ci.jsonl has no run of ./takes to compare with [HP183]"
expect_eq "the program did not run" "$(ls *.json 2>/dev/null)" ""
expect_status 0 check --baseline ci.jsonl --history ./ci.jsonl -- ./takes
expect_in err.txt "ci.jsonl has no run of ./takes yet: its growth is not judged this time [HP185]"
