# The summary of a run shows known leaks apart, and its profile knows nothing of that.
with_leaky_profile leaky.json
cp "$SOURCE/tests/cli/suppressions/my.supp" .
expect_status 0 "$HEAPPROF_BIN" run -o leaky.json --suppressions my.supp "$TARGETS/leaky"
expect_in err.txt "leaked + suppressed"
expect_in err.txt "0 B + 6.03 KiB"
expect_eq "the profile knows nothing of rules" "$(grep -c suppress leaky.json || true)" 0
COLUMNS=80 expect_status 0 "$HEAPPROF_BIN" run -o leaky.json --suppressions my.supp "$TARGETS/leaky"
[ "$(wc -L <err.txt)" -le 80 ] || fail "a line is wider than 80 columns: $(cat err.txt)"
