# No output is written over the contracts.
printf 'version = 1\n[[contract]]\nid = "flaky"\nstatement = "s"\ncommand = ["true"]\nexit = 0\n' >flaky.toml
cp flaky.toml kept.toml
expect_status 2 check --contracts flaky.toml --json ./flaky.toml
cmp flaky.toml kept.toml || fail "an output was written over the contracts"
