# Memory of the CUDA driver: what begins, what ends, on which device, to the byte, as the program's own books say.
device() {
  jq -r --arg name "$1" '.heapprof.devices[] | select(.name == $name) | .totals |
    [.total_bytes, .total_count, .peak_bytes, .leaked_bytes, .leaked_count] | join(" ")' profile.json
}
"$TARGETS/cuda_rules" >plain.txt || fail "without heapprof: $?"
profile "$TARGETS/cuda_rules"
expect_eq "exit status" "$status" 0
expect_complete
expect_eq "events that match nothing: what the driver refuses to free is none" "$(counter unmatched_device_events_count)" 0
cmp plain.txt out.txt || fail "the program's own books differ under heapprof"
while read -r name total count peak left blocks; do
  got=$(device "$name")
  expect_eq "$name: total, allocations, peak, left" "$got" "$total $count $peak $left $blocks"
done <out.txt
# The fake driver maps what it page-locks, as the real one does.
expect_eq "devices" "$(jq -r '[.heapprof.devices[].name | select(. != "mapped")] | sort | join(" ")' profile.json)" \
  "$( (cut -d' ' -f1 out.txt; echo host) | sort | tr '\n' ' ' | sed 's/ $//')"
"$HEAPPROF_BIN" report profile.json >report.txt
for name in cuda:0 cuda:1 pinned managed; do expect_in report.txt "$name"; done
