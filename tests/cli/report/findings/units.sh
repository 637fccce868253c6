# Every number of the JSON has its unit.
made churn record_churn
"$HEAPPROF_BIN" report --findings --format json churn.json | jq -r '[paths(numbers)[-1] | strings] | unique[]' >fields.txt
expect_eq "fields without a unit" "$(grep -vE '_(bytes|ns|count)$|^(version|pid|line|address)$' fields.txt || true)" ""
