# heapprof top --once: its numbers are those of a snapshot of a program that holds still; by its pid and by heapprof's.
holds_live_starts
expect_status 0 "$HEAPPROF_BIN" top --once --interval 250ms --format json "$target"
cp out.txt top.json
expect_status 0 "$HEAPPROF_BIN" snapshot -q -o now.json "$target"
expect_eq "bytes in all, live bytes and blocks, peak" \
  "$(jq -c '.devices[0] | [.total_bytes, .live_bytes, .live_blocks_count, .peak_bytes]' top.json)" "$(numbers now.json)"
expect_status 0 "$HEAPPROF_BIN" report --format json now.json
places='sort_by(.function) | map([.function, .location])'
expect_eq "places" "$(jq -c '.devices[0].places | '"$places" top.json)" '[["hold","holds_live.cc:8"],["main","holds_live.cc:15"]]'
expect_eq "a place's numbers" \
  "$(jq -c '.devices[0].places[0] | [.live_bytes, .live_blocks_count, .growth_bytes, .total_bytes, .allocations_count, .new_allocations_count]' top.json)" \
  "[$((7 * 1235)),7,0,$((7 * 1235)),7,0]"
expect_eq "sums of places" "$(jq -c '.devices[0] | [.total_bytes, .allocations_count] == [([.places[].total_bytes] | add), ([.places[].allocations_count] | add)]' top.json)" true
expect_eq "the rest" "$(jq -c '[.version, .pid, .lost_count, .scopes, .findings]' top.json)" "[1,$target,0,[],[]]"
expect_status 0 "$HEAPPROF_BIN" top --once --interval 250ms --format json "$run"
expect_eq "asked by heapprof's pid" "$(jq -c '[.pid, .devices[0].live_bytes]' out.txt)" "[$target,$((7 * 1235))]"
expect_status 0 "$HEAPPROF_BIN" top --once --interval 250ms "$target"
sed -i '1d; s/ *[█▁]*$//; s/ +[0-9] s / +1 s /' out.txt  # two samples are as far apart as the machine has it
says out.txt <<'SAID'
host  8.44 KiB  peak 9.65 KiB  ±0/s  0 allocs/s

      live       %       +1 s   allocs/s  place
  8.44 KiB   100 %         ±0          0  hold  holds_live.cc:8
       0 B     0 %         ±0          0  main  holds_live.cc:15
SAID
holds_live_ends
expect_eq "the final profile" "$(numbers final.json)" "[$((7 * 1235 + 3 * 1237 + 1239)),$((3 * 1235 + 1239)),4,$((7 * 1235 + 1237))]"
