# Calls of the CUDA driver that take the host's time: each goes through with its arguments, and is counted with its stack.
"$TARGETS/cuda_calls" || fail "without heapprof: $?"
profile "$TARGETS/cuda_calls"
expect_eq "exit status" "$status" 0
expect_complete
sum() { jq -r --arg call "$1" '[.heapprof.device_api.calls[] | select(.call == $call) | .'"$2"'] | add' profile.json; }
expect_eq "kernels: 6 entry points, twice, and 100,000" "$(jq .heapprof.device_api.kernel_launches_count profile.json)" 100012
expect_eq "allocations" "$(sum allocate calls_count) $(sum allocate size_bytes)" "500 $((500 << 20))"
expect_eq "frees" "$(sum free calls_count)" 500
expect_eq "copies to the device: 4 entry points, twice, and 1,000" "$(sum "copy to device" calls_count)" 1008
expect_eq "waits for a stream" "$(sum "synchronize stream" calls_count)" 4
[ "$(sum "synchronize stream" duration_ns)" -ge 800000 ] || fail "four waits of 200 µs: $(sum "synchronize stream" duration_ns) ns"
jq -e '.ftbl as $f | .heapprof.device_api.calls[] | select(.call == "allocate") | [.fs[] | $f[.]] | any(contains("churn("))' profile.json >/dev/null ||
  fail "no stack through the program"
expect_eq "by thread" "$(jq -r '[.heapprof.device_api.threads[] | select(.call == "allocate") | .calls_count] | add' profile.json)" 500
"$HEAPPROF_BIN" report --color never profile.json >report.txt
expect_in report.txt "GPU CALLS"
expect_in report.txt "100,012 kernels launched"
expect_in report.txt "499 allocations were of device memory that had been there before"
grep "500 × allocate" report.txt | grep -q churn || fail "$(cat report.txt)"
# What is written reads back: the sum of two such profiles is twice as much.
cp profile.json again.json
"$HEAPPROF_BIN" merge -o sum.json profile.json again.json 2>/dev/null || fail "merge: $?"
expect_eq "merged" "$(jq '[.heapprof.device_api.kernel_launches_count, ([.heapprof.device_api.calls[] | select(.call == "allocate") | .calls_count] | add)] | join(" ")' -r sum.json)" "200024 1000"
