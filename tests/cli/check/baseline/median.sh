# A history as the baseline: its median, which one bad run does not move, and what is wrong does not become usual.
cp "$TARGETS/takes" .
check() { "$HEAPPROF_BIN" check --no-default-suppressions "$@"; }
export BLOCKS=100
check --max-peak 1GiB --history ci.jsonl -q -- ./takes
for BLOCKS in 102 98 100 500; do expect_status 0 "$HEAPPROF_BIN" check --no-default-suppressions --max-peak 1GiB --history ci.jsonl -q -- ./takes; done
expect_eq "peaks" "$(jq .peak_bytes ci.jsonl | tr '\n' ' ')" "100000 102000 98000 100000 500000 "

# 100000 is the median, and the run of 500000, which nobody complained of, does not move it.
BLOCKS=102
expect_status 0 check --baseline ci.jsonl --tolerance 3% --history ci.jsonl -- ./takes
expect_in out.txt "baseline 97.7 KiB"
expect_in out.txt "4 limits kept · baseline: median of 5 runs"
BLOCKS=110
for again in 1 2 3 4 5 6 7 8 9; do  # what is wrong does not become usual
  expect_status 1 check --baseline ci.jsonl --history ci.jsonl --json out.json -- ./takes
done
grep -q "^FAIL  takes  host peak .*baseline 98.6 KiB  +8.79 KiB  +8.9 %  .*takes.cc:[0-9]* take" out.txt || fail "$(cat out.txt)"
expect_eq "for scripts" "$(jq -c '.checks[0] | [.baseline, .baseline_runs_count, .limits[0].baseline]' out.json)" '["ci.jsonl",6,101000]'
