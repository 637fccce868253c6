# No change is said in one line, without a warning.
with_leaky_profile a.json
cp a.json b.json
expect_status 0 "$HEAPPROF_BIN" diff a.json b.json
expect_in out.txt "no change: nothing differs by more than 1 % or 4.00 KiB."
expect_eq "warnings" "$(cat err.txt)" ""
expect_status 0 "$HEAPPROF_BIN" diff --exit-code a.json b.json
