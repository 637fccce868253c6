# What the driver holds of devices beside what is in use: its pools, memory of graphs, and memory of the program that it
# locks; to the byte as the program itself asked the driver after each step. Nothing of it changes what the program
# sees, and no capture is broken.
"$TARGETS/cuda_holdings" >plain.txt || fail "without heapprof: $?"
profile "$TARGETS/cuda_holdings"
expect_eq "exit status" "$status" 0
expect_complete
cmp plain.txt out.txt || fail "the program's own books differ under heapprof: $(diff plain.txt out.txt)"
held() { jq -r --arg name "$1" '.heapprof.devices[] | select(.name == $name) | .held | ['"$2"'] | join(" ")' profile.json; }
while read -r what name numbers; do
  case $what in
    pools) got=$(held "$name" .pools_bytes,.pools_peak_bytes,.pools_used_bytes,.pools_used_peak_bytes,.pools_idle_peak_bytes) ;;
    graphs) got=$(held "$name" .graphs_bytes,.graphs_peak_bytes,.graphs_used_bytes,.graphs_used_peak_bytes) ;;
    registered)
      numbers="$name $numbers"
      got=$(jq -r '.heapprof.devices[] | select(.name == "registered") | .totals |
        [.total_bytes, .total_count, .peak_bytes, .leaked_bytes] | join(" ")' profile.json)
      ;;
  esac
  expect_eq "$what $name" "$got" "$numbers"
done <out.txt
expect_eq "ends of what never began: what the driver refuses is none" "$(counter unmatched_device_events_count)" 0
# The sites of allocation nodes: one captured, two added.
expect_eq "allocations in graphs" "$(jq '[.heapprof.device_api.calls[] | select(.call == "allocate in a graph") | .calls_count, .size_bytes] | "\([.[range(0; length; 2)]] | add) \([.[range(1; length; 2)]] | add)"' -r profile.json)" \
  "3 $(((30 << 20) + (5 << 20) + (7 << 20) + 5))"
jq -e '.ftbl as $f | [.heapprof.device_api.calls[] | select(.call == "allocate in a graph") | [.fs[] | $f[.]] | any(contains("graph_nodes") or contains("captures"))] | all' profile.json >/dev/null ||
  fail "an allocation node without its stack"
# What is written reads back; sums add up.
cp profile.json again.json
"$HEAPPROF_BIN" merge -o sum.json profile.json again.json 2>/dev/null || fail "merge: $?"
expect_eq "merged" "$(jq '.heapprof.devices[] | select(.name == "cuda:0") | .held.pools_peak_bytes' sum.json)" \
  "$((2 * $(held cuda:0 .pools_peak_bytes)))"
# Many threads and pools that come and go: what is held in the end, and no question to a pool that is gone.
for _ in 1 2 3; do
  profile "$TARGETS/cuda_holdings" threads
  expect_eq "exit status, threads" "$status" 0
  while read -r _ name numbers; do expect_eq "threads, $name" "$(held "$name" .pools_bytes,.pools_used_bytes)" "$numbers"; done <out.txt
done
