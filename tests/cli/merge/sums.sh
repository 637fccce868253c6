# heapprof merge: sums are exact, peaks stay visible, the inputs are named.
with_profiles_to_merge
sum() { jq "[.pps[].$1] | add" "$2"; }
expect_status 0 "$HEAPPROF_BIN" merge -o abc.json a.json b.json c.json
expect_in err.txt "peaks of 3 profiles"
expect_in err.txt "next   heapprof report abc.json"
for field in tb tbk eb ebk gb gbk; do
  expect_eq "sum of $field" "$(sum $field abc.json)" "$(($(sum $field a.json) * 3))"
done
expect_eq "sites" "$(jq '.pps | length' abc.json)" "$(jq '.pps | length' a.json)"
expect_eq "what the device says" "$(jq -c '.heapprof.devices[0] | [.peak_is_sum, .largest_peak_bytes, .totals.leaked_bytes]' abc.json)" \
  "[true,$(sum gb a.json),$((6175 * 3))]"
expect_eq "inputs" "$(jq -c '[.heapprof.merged[] | [.file, .device, .peak_bytes]]' abc.json | tr -d ' ')" \
  "[[\"a.json\",\"host\",$(sum gb a.json)],[\"b.json\",\"host\",$(sum gb a.json)],[\"c.json\",\"host\",$(sum gb a.json)]]"
