# Paths, arguments and environments that are no addresses, or that end before their end: every function that starts
# programs answers as without us (EFAULT, E2BIG, or what libc makes of them), in a child and in a vfork child.
timeout 100 "$TARGETS/bad_pointers" all >plain.txt 2>&1
lines=$(wc -l <plain.txt)
[ "$lines" -gt 1000 ] || fail "only $lines calls were made"
[ "$(grep -c EFAULT plain.txt)" -gt 500 ] || fail "too few of the calls are refused"
expect_in plain.txt E2BIG
expect_in plain.txt "spawned exit 42"

expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- timeout 200 "$TARGETS/bad_pointers" all
diff plain.txt out.txt >difference.txt || {
  head -40 difference.txt >&2
  fail "$(grep -c '^>' difference.txt) of $lines calls have another outcome"
}
