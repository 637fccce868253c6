# What JSON and CSV say is what the profile says; every number has its unit.
json_total() { jq "[.devices[] | select(.name == \"host\") | .places[].$1] | add" report.json; }
"$HEAPPROF_BIN" report --format json "$small" >report.json 2>/dev/null
for field in total_bytes peak_bytes leaked_bytes; do
  expect_eq "sum of $field over places" "$(json_total $field)" "$(jq '.devices[0].'$field report.json)"
done
expect_eq "peak in the file" "$(jq '[.pps[].gb] | add' "$small")" "$(jq '.devices[0].peak_bytes' report.json)"
expect_eq "leaks in the file" "$(jq '[.pps[].eb] | add' "$small")" "$(jq '.devices[0].leaked_bytes' report.json)"
jq -r '[paths(numbers)[-1] | strings] | unique[]' report.json >fields.txt
odd=$(grep -vE '_(bytes|ns|count)$|^(version|pid|id|line|address)$' fields.txt || true)
expect_eq "fields without a unit" "$odd" ""
