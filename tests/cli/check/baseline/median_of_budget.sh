# A budget whose baseline is a history may have another name for the command; a site is judged by its own limit alone.
cp "$TARGETS/takes" .
cp "$SOURCE/tests/cli/check/baseline/takes.jsonl" ci.jsonl  # 6 runs that were ok, 9 that were not
check() { "$HEAPPROF_BIN" check --no-default-suppressions "$@"; }
export BLOCKS=100
BLOCKS=110
cat >heapprof.toml <<'TOML'
version = 1
[[budget]]
name = "blocks"
command = ["./takes"]
baseline = "ci.jsonl"
tolerance = "3 %"
  [[budget.site]]
  match = "take"
  peak = "1 MiB"
TOML
expect_status 1 check --budget heapprof.toml
expect_in out.txt "FAIL  blocks  host peak"
grep -qE "^ok    blocks  take peak +107 KiB  limit 1.00 MiB +10 %$" out.txt || fail "$(cat out.txt)"
BLOCKS=100
expect_status 0 check --budget heapprof.toml
