# No output is written over the baseline.
with_leaky_profile p.json
cp p.json base.json
expect_status 2 check --baseline base.json --json base.json p.json
cmp base.json p.json || fail "an output was written over the baseline"
expect_status 0 check --baseline p.json p.json
