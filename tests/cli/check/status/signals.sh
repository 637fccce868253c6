# heapprof check runs several programs: each finds the signals as the first one did, none blocked or ignored by
# heapprof.
cat >two.toml <<'TOML'
version = 1
[defaults]
peak = "1 GiB"
[[budget]]
name = "first"
command = ["sh", "-c", "grep ^Sig /proc/self/status >first.txt"]
[[budget]]
name = "second"
command = ["sh", "-c", "grep ^Sig /proc/self/status >second.txt"]
TOML
expect_status 0 "$HEAPPROF_BIN" check -q --budget two.toml
states() { grep -E '^Sig(Blk|Ign)' "$1"; }
expect_eq "signals of the first program" "$(states first.txt)" "$(grep -E '^Sig(Blk|Ign)' /proc/self/status)"
expect_eq "signals of the second program" "$(states second.txt)" "$(states first.txt)"
