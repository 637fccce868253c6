# A block at each of many levels: the numbers are exact, and the profile is as large as the code, not as the recursion.
# recursion KIND LEVELS BLOCKS REGEX: so many blocks of each size under REGEX
recursion() {
  profile "$TARGETS/recursions" "$1" "$2"
  expect_eq "exit status" "$status" 0
  expect_complete
  expect_sum "$4" "$(($3 * 2471)) $(($3 * 2)) $(($3 * 1236)) $3"
  size=$(stat -c %s profile.json)
  [ "$size" -lt "$5" ] || fail "the profile of $1 has $size bytes"
}
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)"
recursion direct 6000 6000 '^(.*::)?direct' 4000000
"$HEAPPROF_BIN" report --tree profile.json >tree.txt 2>tree.err
grep -q '\[recursion from .*direct, up to 5999 frames\]' tree.txt || fail "$(cat tree.txt)"
recursion mutual 6000 3000 '^(.*::)?even' 4000000
recursion mixed 6000 6000 '^(.*::)?mixed' 6000000
recursion cycle 6000 6000 'cycle<' 6000000
recursion threads 2000 8000 '^(.*::)?direct' 4000000

# Deeper than what is recorded of a stack, which is said.
profile "$TARGETS/recursions" direct 34000
expect_eq "exit status" "$status" 0
expect_sum '^(.*::)?direct' "$((34000 * 2471)) 68000 $((34000 * 1236)) 34000"
[ "$(counter truncated_stacks_count)" -gt 0 ] || fail "a stack was cut and nobody said so"

# Every stack is the one that libunwind finds.
"$HEAPPROF_BIN" run --verify-stacks -o verified.json -- "$TARGETS/recursions" cycle 700 >out.txt 2>err.txt || fail "$(cat err.txt)"
expect_eq "checked, and otherwise" "$(jq -r '.heapprof.counters | "\(.verify_checked_count >= 1400) \(.verify_mismatched_count)"' verified.json)" "true 0"
