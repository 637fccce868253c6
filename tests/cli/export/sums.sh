# The sums of an export are the profile's, for each metric and device.
folded_sum() { "$HEAPPROF_BIN" export -q --format folded --metric "$1" --device "$2" "$small" | awk '{ sum += $NF } END { print sum + 0 }'; }
for pair in peak:peak_bytes total:total_bytes leaked:leaked_bytes allocations:total_count temporary:temporary_count; do
  for device in host cuda:0; do
    expect_eq "${pair%%:*} of $device" "$(folded_sum "${pair%%:*}" $device)" \
      "$(jq ".heapprof.devices[] | select(.name == \"$device\") | .totals.${pair##*:}" "$small")"
  done
done
"$HEAPPROF_BIN" export -q --format speedscope -o x.speedscope "$small"
expect_eq "a speedscope profile for each metric of each device" "$(jq -c '[.profiles[].name]' x.speedscope)" \
  '["host peak","host total","host leaked","host allocations","host temporary","cuda:0 peak","cuda:0 total","cuda:0 leaked","cuda:0 allocations","cuda:0 temporary"]'
