# JSON and CSV have both: leaked is all of it, suppressed a part of that.
with_leaky_profile leaky.json
cp "$SOURCE/tests/cli/suppressions/my.supp" .
"$HEAPPROF_BIN" report --suppressions my.supp --format json leaky.json >report.json
expect_eq "leaked in JSON" "$(jq -c '.devices[0] | [.leaked_bytes, .leaked_blocks_count, .suppressed_leaked_bytes, .suppressed_leaked_blocks_count]' report.json)" "[6175,5,6175,5]"
expect_eq "places in JSON" "$(jq '[.devices[0].places[].suppressed_leaked_bytes] | add' report.json)" 6175
"$HEAPPROF_BIN" report --suppressions my.supp --sort leaked --format csv leaky.json >report.csv
expect_eq "CSV" "$("$PYTHON" -c 'import csv; print([(r["leaked_bytes"], r["suppressed_leaked_bytes"], r["suppressed_leaked_blocks_count"]) for r in csv.DictReader(open("report.csv"))])')" \
  "[('6175', '6175', '5')]"
"$HEAPPROF_BIN" report --suppressions my.supp --list-suppressions --format json leaky.json >report.json
expect_eq "rules of the file" "$(jq -c '[.devices[0].suppressions[] | select(.file) | [.line, .suppressed_leaked_bytes]]' report.json)" "[[2,6175],[3,0]]"
