# What an update of the budget would break is left as it is.
cp "$TARGETS/leaky" .
printf 'version = 1\n[[budget]]\nname = "leaky"\ncommand = ["./leaky"]\nleaked = { host = 0x10 }\n' >hex.toml
cp hex.toml before.toml
expect_status 2 check --budget hex.toml --update-budget
cmp hex.toml before.toml || fail "a broken budget was written"
