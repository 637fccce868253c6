# Ctrl-C is meant for the whole: what would come next is not run.
cat >stopped.toml <<'TOML'
version = 1
[defaults]
peak = { host = "1 GiB" }
[[budget]]
name    = "first"
command = ["sh", "-c", "kill -INT $$"]
[[budget]]
name    = "second"
command = ["touch", "was-run"]
TOML
expect_status 4 check --budget stopped.toml
[ ! -e was-run ] || fail "the second program ran after Ctrl-C"
