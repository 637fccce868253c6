# --update-budget raises a scope's limits, averages with two digits behind the point; of several scopes the most counts.
expect_status 0 "$HEAPPROF_BIN" run -q -o p.json "$TARGETS/cuda_decode" 17
expect_status 0 "$HEAPPROF_BIN" run -q -o work.json "$TARGETS/scope_work" 5 1000
cat >h.toml <<'TOML'
version = 1
[[budget]]
name = "server"
  [[budget.scope]]
  path = "decode"
  calls_per_run = { "synchronize stream" = 3 } # why
  kernel_launches_per_run = 1
[[budget]]
name = "work"
tolerance = "0 %"
  [[budget.scope]]
  path = "*"
  count = 2
  kept = "1 KiB"
TOML
sed 's/= 3 }/= "17.17" }/' h.toml >want.toml
expect_status 0 check --budget h.toml --name server --update-budget p.json
cmp h.toml want.toml || fail "$(cat h.toml)"
expect_status 0 check --budget h.toml --name server p.json
sed -i 's/count = 2/count = 5/; s/1 KiB/4.89 KiB/' want.toml
expect_status 0 check --budget h.toml --name work --update-budget work.json
cmp h.toml want.toml || fail "$(cat h.toml)"
sed -i 's/"17.17"/3/; s/version = 1/&\n/' h.toml
expect_status 0 check --budget h.toml --name server --tolerance 0% --update-budget p.json
expect_in h.toml '"synchronize stream" = 17 } # why'
