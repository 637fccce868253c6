# --update-budget: values change, everything else in the file stays.
with_leaky_profile p.json
cat >up.toml <<'TOML'
version = 1
[defaults]
temporary = "1 %"  # others' too
[[budget]]
name = "leaks"
peak = { host = "1 KiB" }   # größer: why
allocations = 8  # and this
leaked = "1 MiB"
TOML
chmod 640 up.toml
expect_status 1 check --budget up.toml --name leaks --update-budget p.json
expect_in err.txt "saved  up.toml  2 limits raised"
expect_in out.txt "ok    leaks  host peak          7.24 KiB  limit 7.32 KiB"
expect_in out.txt "FAIL  leaks  host temporary"
cat >want.toml <<'TOML'
version = 1
[defaults]
temporary = "1 %"  # others' too
[[budget]]
name = "leaks"
peak = { host = "7.32 KiB" }   # größer: why
allocations = 9  # and this
leaked = "1 MiB"
TOML
cmp want.toml up.toml || fail "another budget: $(cat up.toml)"
expect_eq "mode" "$(stat -c %a up.toml)" 640
expect_status 1 check --budget up.toml --name leaks --update-budget p.json
expect_eq "words when there is nothing to raise" "$(cat err.txt)" ""
cmp want.toml up.toml || fail "a budget that needed nothing changed"
