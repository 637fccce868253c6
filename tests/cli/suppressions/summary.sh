# The summary of a run shows apart what is known to stay, and its profile knows nothing of that.
with_leaky_profile leaky.json
cp "$SOURCE/tests/cli/suppressions/my.supp" .
expect_status 0 "$HEAPPROF_BIN" run -o leaky.json --suppressions my.supp "$TARGETS/leaky"
expect_in err.txt "live at exit  + 6.03 KiB suppressed (heapprof report --list-suppressions)"
expect_not_in err.txt "leak_blocks  leaky.cc:10   5 blocks"
expect_eq "the profile knows nothing of rules" "$(grep -c suppress leaky.json || true)" 0
COLUMNS=80 expect_status 0 "$HEAPPROF_BIN" run -o leaky.json --suppressions my.supp "$TARGETS/leaky"
[ "$(wc -L <err.txt)" -le 80 ] || fail "a line is wider than 80 columns: $(cat err.txt)"
