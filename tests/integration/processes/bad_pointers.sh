# Paths, arguments and environments that are no addresses, or that end before their end: every function that starts
# programs answers as without us (EFAULT, E2BIG, or what libc makes of them), in a child and in a vfork child.
which=few calls=200 refused=100
[ -z "${HEAPPROF_LONG:-}" ] || which=all calls=1000 refused=500
timeout 300 "$TARGETS/bad_pointers" $which >plain.txt 2>&1
lines=$(wc -l <plain.txt)
[ "$lines" -gt $calls ] || fail "only $lines calls were made"
[ "$(grep -c EFAULT plain.txt)" -gt $refused ] || fail "too few of the calls are refused"
expect_in plain.txt E2BIG
expect_in plain.txt "spawned exit 42"

# With "$@" before it.
compare() {
  expect_status 0 "$@" "$HEAPPROF_BIN" run -q -o p.json -- timeout 300 "$TARGETS/bad_pointers" $which
  diff plain.txt out.txt >difference.txt || {
    head -40 difference.txt >&2
    fail "$(grep -c '^>' difference.txt) of $lines calls have another outcome"
  }
}
compare env
# Where process_vm_readv is refused each page is asked about.
if "$TARGETS/refuses_reads" true; then compare "$TARGETS/refuses_reads"; else not_tried "a filter for process_vm_readv"; fi
