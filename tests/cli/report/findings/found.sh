# heapprof report --findings: what is found, where, at what cost, what helps; its id is the same in the next run.
export COLUMNS=80
made churn record_churn
expect_status 0 "$HEAPPROF_BIN" report --findings churn.json
expect_in out.txt "1 finding, in the order to look at them"
expect_in out.txt "memory that only the start needs, memory that is needed for a short time,"
expect_in out.txt "queues that fill up: the run took"
expect_in out.txt "20,000 blocks of 4.00 KiB, one after another"
grep -qE '^ +smooth_row +.*planted_churn.cc:[0-9]+ +← main' out.txt || fail "the place is not named: $(cat out.txt)"
expect_in out.txt "at most 1 alive at once"
expect_in out.txt "often: keep one block as a workspace"
id=$("$HEAPPROF_BIN" report --findings --format json churn.json | jq -r '.findings[0].id')
expect_in out.txt "$id"
"$HEAPPROF_BIN" run -q -o again.json "$TARGETS/planted_churn"
expect_eq "the id of another run" "$("$HEAPPROF_BIN" report --findings --format json again.json | jq -r '.findings[0].id')" "$id"
expect_status 0 "$HEAPPROF_BIN" report --findings --bytes churn.json
expect_in out.txt "4,099 B"
