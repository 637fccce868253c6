# Tensors of PyTorch's allocator, inside of what the driver gave to it: each is counted once, to the byte, in every form
# in which PyTorch has told of them; what it reserved, what tensors have of it and the largest gap are as the
# allocator's own books say; and the real functions are called as before.
field() {  # DEVICE EXPRESSION
  jq -r --arg name "$1" ".heapprof.devices[] | select(.name == \$name) | $2" profile.json
}
for form in 17 110 20; do
  for seed in 1 2; do
    "$TARGETS/cuda_tensors" $form $seed >plain.txt || fail "without heapprof: $?"
    profile "$TARGETS/cuda_tensors" $form $seed
    expect_eq "exit status" "$status" 0
    expect_complete
    expect_eq "events that match nothing" "$(counter unmatched_device_events_count)" 0
    expect_eq "form $form: names of nothing" "$(counter unmatched_names_count)" 0
    cmp plain.txt out.txt || fail "form $form: the program's own books differ under heapprof"
    while read -r what device rest; do
      case $what in
        tensors)
          expect_eq "form $form: tensors in cuda:$device" \
            "$(field "cuda:$device/tensors" '.totals | [.total_bytes, .total_count, .peak_bytes, .leaked_bytes, .leaked_count] | join(" ")')" "$rest" ;;
        peak | end)
          expect_eq "form $form: segments of cuda:$device, $what" \
            "$(field "cuda:$device/tensors" ".segments.at_$what | [.reserved_bytes, .allocated_bytes, .segments_count, .empty_count, .largest_gap_bytes] | join(\" \")")" "$rest"
          expect_eq "form $form: tensors in no segment" "$(field "cuda:$device/tensors" ".segments.at_$what.elsewhere_bytes")" 0 ;;
        named)
          expect_eq "form $form: weights in cuda:$device" \
            "$(field "cuda:$device/tensors" '.names[] | select(.name == "weights") | [.leaked_bytes, .leaked_count, .max_bytes] | join(" ")')" "$rest ${rest% *}"
          expect_eq "form $form: weights among what the driver gave out" "$(field "cuda:$device" '.names // [] | length')" 0 ;;
        told)
          expect_eq "form $form: tensors of cuda:$device, role ${rest%% *}" \
            "$(jq -r ".heapprof.snapshots.snapshots[0].tensors[] | select(.device == \"cuda:$device/tensors\") | [.sites[] | select(.role == ([\"weights\", \"gradients\", \"optimizer state\", \"activations\", \"inputs and other data\"][${rest%% *} - 1]))] | [([.[].live_bytes] | add // 0), ([.[].live_count] | add // 0)] | join(\" \")" profile.json)" "${rest#* }" ;;
        reached) expect_eq "form $form: reports that reached the real functions" "$device" "$rest" ;;
      esac
    done <out.txt
    # Of the tensors that nobody told of the rest is said.
    "$HEAPPROF_BIN" report --snapshots --format json profile.json >snapshots.json
    expect_eq "form $form: tensors in the snapshot, and in the device then" \
      "$(jq -c '.snapshots[0] | [.tensors[] | ([.roles[].live_bytes] | add) + .rest_bytes]' snapshots.json)" \
      "$(jq -c '.snapshots[0] | [.devices[] | select(.device | endswith("/tensors")) | .live_bytes]' snapshots.json)"
    expect_eq "form $form: tensors that nothing was live for" "$(json snapshots.json '.snapshots[0].lost_tensors_count')" 0
    # Who asked for what was not there, and who held it.
    expect_eq "form $form: refusals" "$(field cuda:0/tensors '.refusals | [length, .[0].size_bytes, (.[0].holders | length > 0)] | join(" ")')" "1 $((123 << 20)) true"
    expect_eq "form $form: reserved, when there was no room" "$(field cuda:0/tensors '.segments.at_refusal.reserved_bytes')" "$(awk '$1 == "end" && $2 == 0 { print $3 }' out.txt)"
    # What the driver gave out is on its own device, as without tensors.
    [ "$(field cuda:0 .totals.peak_bytes)" -ge "$(awk '$1 == "peak" && $2 == 0 { print $3 }' out.txt)" ] || fail "the driver gave out less than is reserved"
  done
done
"$HEAPPROF_BIN" report profile.json >report.txt
expect_in report.txt "tensors inside cuda:0: no new bytes"
expect_said report.txt "when there was no room: reserved"
expect_said report.txt "when most was reserved: reserved"
expect_said report.txt "the largest gap"
"$HEAPPROF_BIN" report --format json profile.json >report.json
expect_eq "segments in the report's JSON" "$(jq '[.devices[] | select(.segments) | .segments.at_end.segments | length > 0] | all' report.json)" true
# It is the same when it was read and written again.
"$HEAPPROF_BIN" export --format dhat -o again.json profile.json
expect_eq "segments, read and written" "$(jq -cS '[.heapprof.devices[].segments]' again.json)" "$(jq -cS '[.heapprof.devices[].segments]' profile.json)"

# Reports that name no block are refused, with a word.
profile "$TARGETS/cuda_tensors" 16 1
expect_eq "devices of tensors" "$(jq '[.heapprof.devices[] | select(.name | endswith("/tensors")) | .totals.total_count] | add // 0' profile.json)" 0
expect_eq "refused reports" "$(counter tensors_refused_count)" "$(awk '$1 == "reached" { print $2 - 3 }' out.txt)"
expect_eq "reports that reached the real function" "$(awk '$1 == "reached" { print $2 - $3 }' out.txt)" 0
"$HEAPPROF_BIN" report profile.json >report.txt 2>warnings.txt
cat report.txt warnings.txt >both.txt
expect_said both.txt "of PyTorch's memory named no block"
