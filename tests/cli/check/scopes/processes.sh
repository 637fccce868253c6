# With --processes each a scope has to be in one of the processes; each that has it keeps the limit.
cat >h.toml <<TOML
version = 1
[[budget]]
name = "suite"
command = ["sh", "suite.sh"]
processes = "each"
  [[budget.scope]]
  path = "load"
  kept = 5_000
TOML
printf '%s\n' "$TARGETS/scope_work 5 1000" "$TARGETS/leaky" "$TARGETS/scope_work 6 1000" : >suite.sh
expect_status 1 check --budget h.toml
tr -s ' ' <out.txt >words.txt
expect_in words.txt "ok suite.scope_work load: kept 4.88 KiB"
expect_in words.txt "FAIL suite.scope_work 2 load: kept 5.86 KiB"
sed -i 's/path = "load"/path = "laod"/' h.toml
expect_status 2 check --budget h.toml
expect_in err.txt "no scope matches 'laod'; the nearest: 'load'"
