# heapprof's own gate over heapprof: reading, comparing and exporting profiles leak nothing and keep their memory.
export LC_ALL=C.UTF-8
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
cp "$SOURCE/tests/golden/profile/small.json" small.json
"$HEAPPROF_BIN" run -q -o large.json -- "$HEAPPROF_BIN" report --format json small.json >/dev/null || fail "cannot make a profile: $?"
cat >heapprof.toml <<TOML
version = 1
[defaults]
leaked = { host = "0 B" }

[[budget]]
name    = "report"
command = ["$HEAPPROF_BIN", "report", "large.json"]
peak    = { host = "8 MiB" }

[[budget]]
name    = "diff"
command = ["$HEAPPROF_BIN", "diff", "large.json", "large.json"]
peak    = { host = "16 MiB" }

[[budget]]
name    = "export"
command = ["$HEAPPROF_BIN", "export", "--format", "pprof", "-o", "large.pb.gz", "large.json"]
peak    = { host = "8 MiB" }

[[budget]]
name        = "exact"
command     = ["$TARGETS/leaky"]
allocations = { host = 9 }
leaked      = { host = "6175 B" }
TOML
expect_status 0 "$HEAPPROF_BIN" check --budget heapprof.toml
expect_in out.txt "limits kept"
# It is a gate: one block more than the budget says is found, with its place.
sed -i 's/host = 9/host = 8/' heapprof.toml
expect_status 1 "$HEAPPROF_BIN" check --budget heapprof.toml --name exact
expect_in out.txt "FAIL  exact  host allocations"
