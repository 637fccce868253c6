# What is known to stay is shown apart, with their rules and reasons; the sum is the same.
with_leaky_profile leaky.json
cp "$SOURCE/tests/cli/suppressions/my.supp" .
expect_status 0 "$HEAPPROF_BIN" report leaky.json
expect_in out.txt "live at exit 6.03 KiB   9 allocs of 10.9 KiB"
expect_not_in out.txt "suppressed"
cp leaky.json before.json
expect_status 0 "$HEAPPROF_BIN" report --suppressions my.supp leaky.json
expect_in out.txt "live at exit 0 B   + 6.03 KiB suppressed   9 allocs"
expect_in out.txt "6.03 KiB live at exit, and suppressed (--list-suppressions)"
expect_not_in out.txt "LIVE AT EXIT host"
cmp before.json leaky.json || fail "the report changed the profile"
expect_status 0 "$HEAPPROF_BIN" report --suppressions my.supp --list-suppressions leaky.json
grep -A1 -F '6.03 KiB  5 blocks  function:leak_*' out.txt >lines.txt || fail "the rule is not listed: $(cat out.txt)"
expect_in lines.txt "my.supp:2: five blocks, on purpose"
grep -A1 -E '^ +unused  function:nothing_like_this$' out.txt >lines.txt || fail "the unused rule is not listed: $(cat out.txt)"
expect_in lines.txt "my.supp:3: not there any more"
[ "$(wc -L <out.txt)" -le 100 ] || fail "a line is wider than 100 columns: $(cat out.txt)"
