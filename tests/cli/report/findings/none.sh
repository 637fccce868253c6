# No findings: one line, and what was not asked.
export COLUMNS=80
expect_status 0 "$HEAPPROF_BIN" report --findings "$small"
expect_eq "nothing found" "$(cat out.txt)" "no findings, not asked: growth: the file does not say what sites held when"
expect_status 0 "$HEAPPROF_BIN" report --findings --format json "$small"
expect_eq "nothing found, in JSON" "$(jq -c '[.findings_count, .findings, .not_asked]' out.txt)" '[0,[],["growth"]]'
