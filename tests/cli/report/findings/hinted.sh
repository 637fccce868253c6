# The plain report says that there are findings, and how to see them.
export COLUMNS=80
made churn record_churn
expect_status 0 "$HEAPPROF_BIN" report churn.json
expect_in out.txt "1 finding: heapprof report --findings churn.json"
expect_status 0 "$HEAPPROF_BIN" report "$small"
expect_not_in out.txt "finding"
