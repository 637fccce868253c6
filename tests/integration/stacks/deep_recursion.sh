# A recursion of 20,000 frames is seen whole, and so is one that is deeper than any cap if it is said to be cut.
profile "$TARGETS/deep_recursion" 20000
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^descend' "235935 21 235935 21"
[ "$(depth '^descend')" -ge 20002 ] || fail "the deepest stack has $(depth '^descend') frames"
expect_eq "frames of descend in it" "$(stacks '^descend' | awk '{ n = gsub(/descend/, "x"); if (n > most) most = n } END { print most }')" 20001

ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)"
profile "$TARGETS/deep_recursion" 60000
expect_eq "exit status" "$status" 0
expect_eq "blocks" "$(sum '^descend' | cut -d' ' -f2)" 61
[ "$(counter truncated_stacks_count)" -gt 0 ] || [ "$(depth '^descend')" -ge 60002 ] || fail "a stack was cut and nobody said so"
