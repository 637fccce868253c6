# A contract states what a scope takes, as budgets limit it.
cat >c.toml <<TOML
version = 1
[[contract]]
id = "waits"
statement = "A token waits for its stream once"
command = ["$TARGETS/cuda_decode", "17"]
  [[contract.scope]]
  path = "decode"
  calls_per_run = { "synchronize stream" = { expect = "1 ± 0" } }
TOML
expect_status 1 check --contracts c.toml
tr -s ' ' <out.txt >words.txt
expect_in words.txt "decode: synchronize stream per run 17 expected 1"
expect_in words.txt "1 of 1 contract broken"
sed 's/"17"/"1"/' c.toml >held.toml
expect_status 0 check --contracts held.toml
tr -s ' ' <out.txt >words.txt
expect_in words.txt "holds decode: synchronize stream per run 1"
sed '/calls_per_run/d; s/^statement.*/&\nexit = 0/' c.toml >empty.toml
expect_status 2 check --contracts empty.toml
expect_in err.txt "empty.toml, line 7: no limit is set for 'decode' [HP143]"
sed 's/^statement.*/&\nprofiled = false/' c.toml >unprofiled.toml
expect_status 2 check --contracts unprofiled.toml
expect_in err.txt "'waits' has a limit, and is not profiled"
