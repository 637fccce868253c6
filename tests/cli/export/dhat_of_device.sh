# A device's DHAT file is a profile again, of that device.
expect_status 0 "$HEAPPROF_BIN" export -q --format dhat --device cuda:0 -o gpu.json "$small"
expect_eq "its bytes" "$(jq '[.pps[].tb] | add' gpu.json)" 1048576
expect_status 0 "$HEAPPROF_BIN" report gpu.json
expect_in out.txt "PEAK cuda:0"
expect_not_in out.txt "host"
