# The report knows a sum for one, and the whole is read back as it was written.
with_profiles_to_merge
sum() { jq "[.pps[].$1] | add" "$2"; }
"$HEAPPROF_BIN" merge -q -o abc.json a.json b.json c.json
expect_status 0 "$HEAPPROF_BIN" report abc.json
expect_in out.txt "3 profiles merged  "  # the gap narrows where the program's path is long
expect_in out.txt "  all exit 0"
expect_in out.txt "peaks add to"
expect_in out.txt "(median "
"$HEAPPROF_BIN" report --format json abc.json >report.json
expect_eq "inputs in the report" "$(jq '[.inputs[].peak_bytes] | add' report.json)" "$(jq '.devices[0].peak_bytes' report.json)"
"$HEAPPROF_BIN" merge -q -o again.json abc.json a.json
expect_eq "a sum with one more" "$(jq '.heapprof.merged | length' again.json)" 4
expect_eq "its leaks" "$(sum eb again.json)" $((6175 * 4))
