# Two devices, and profiles of other tools among themselves.
with_leaky_profile a.json
sum() { jq "[.pps[].$1] | add" "$2"; }
expect_status 0 "$HEAPPROF_BIN" merge -q -o devices.json a.json "$small"
expect_eq "devices" "$(jq -c '[.heapprof.devices[].name]' devices.json)" '["host","cuda:0"]'
cp "$foreign/valgrind_heap.json" v1.json
cp v1.json v2.json
expect_status 0 "$HEAPPROF_BIN" merge -q -o valgrind.json v1.json v2.json
expect_status 0 "$HEAPPROF_BIN" report valgrind.json
expect_eq "valgrind's bytes" "$(sum tb valgrind.json)" "$(($(sum tb v1.json) * 2))"
