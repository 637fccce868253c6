# Pages that a program maps itself: what the profile has of each device, to the byte, is what the program's list of all
# pages has.
device() {
  jq -r --arg name "$1" --arg order "$2" '.heapprof.devices[] | select(.name == $name) | .totals |
    [.total_bytes, .total_count, if $order == "locked" then .peak_bytes else 0 end, .leaked_bytes, .leaked_count] | join(" ")' profile.json
}
for run in "1 1 4000 locked" "2 4 2000 locked" "3 4 2000 free"; do
  # shellcheck disable=SC2086
  profile "$TARGETS/mappings" $run
  expect_eq "exit status of $run" "$status" 0
  expect_complete
  expect_eq "events that match nothing" "$(counter unmatched_device_events_count)" 0
  while read -r name rest; do expect_eq "$name with $run: total, blocks, peak, left" "$(device "$name" "${run##* }")" "$rest"; done <out.txt
done
"$HEAPPROF_BIN" report profile.json >report.txt
for name in mapped mapped:file mapped:reserved; do expect_in report.txt "$name "; done
expect_eq "the heap knows nothing of them" "$(json profile.json '[.heapprof.devices[] | select(.name == "host") | .totals.peak_bytes < 3000000] | all')" true

# Seen by site: the call that mapped, and the one that gave access, each with its own stack.
expect_eq "who mapped" "$(jq -r '.ftbl as $f | [.heapprof.devices[] | select(.name == "mapped") | .pps[]?.fs[]? | $f[.]] | map(select(test("map_pages"))) | length > 0' profile.json)" true
