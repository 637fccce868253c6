# The worst of several counts.
with_leaky_profile p.json
cp "$TARGETS/exit_code" .
jq -c '.heapprof.counters.lost_count = 12 | .heapprof.run.complete = false | .heapprof.run.incomplete_reason = "12 events lost"' p.json >lost.json
expect_status 4 check --max-peak 1GiB -- ./exit_code 7
expect_status 3 check --max-peak 1GiB p.json lost.json
expect_in out.txt "1 limit kept · profile p.json"
expect_status 4 check --max-peak 1B heapprof.check.exit_code.json p.json lost.json
