# Calls of the driver are compared for each run of a scope: what a run asks for, and not how many runs there were.
record() { expect_status 0 "$HEAPPROF_BIN" run -q -o "$1.json" "$TARGETS/cuda_decode" "${@:2}"; }
record once 1
record longer 1 more
record often 17
calls() { jq -c '[.scopes.changes[] | select(.path[-1].name == "decode") | .numbers[] | select(.number | test("calls|launches"))]' "$1"; }

expect_status 0 "$HEAPPROF_BIN" diff once.json often.json
tr -s ' ' <out.txt >words.txt
expect_in words.txt "synchronize stream per run 1 17 +16 +1,600 %"
expect_not_in out.txt "kernel launches"
expect_status 0 "$HEAPPROF_BIN" diff --format json once.json often.json
expect_eq "calls" "$(calls out.txt | jq -c '[.[] | .call, .base, .current, .change, .base_per_run == 1, .current_per_run == 17]')" \
  '["synchronize stream",5,85,80,true,true]'

expect_status 0 "$HEAPPROF_BIN" diff --format json once.json longer.json
expect_eq "more runs of the same" "$(calls out.txt)" '[]'
expect_eq "runs" "$(jq -c '[.scopes.changes[].numbers[] | select(.number == "begun_count") | .change]' out.txt)" '[1]'
