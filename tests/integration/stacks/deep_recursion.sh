# A recursion of 20,000 frames is seen whole, and written folded: once, with its depth. One that is deeper than any cap
# is said to be cut.
profile "$TARGETS/deep_recursion" 20000
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^descend' "235935 21 235935 21"
expect_eq "what is folded" "$(jq -r '.ftbl[]' profile.json | sed -n 's/^\(\[recursion .*\]\) (in .*/\1/p')" \
  "[recursion from descend, up to 20000 frames]"
[ "$(depth '^descend')" -le 1024 ] || fail "the deepest stack is written with $(depth '^descend') frames"

ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)"
profile "$TARGETS/deep_recursion" 60000
expect_eq "exit status" "$status" 0
expect_eq "blocks" "$(sum '^descend' | cut -d' ' -f2)" 61
[ "$(counter truncated_stacks_count)" -gt 0 ] || fail "a stack was cut and nobody said so"
# Each stack beyond the cap is known to be so deep without walking it all: that was quadratic, and took 12 s here.
profile "$TARGETS/deep_recursion" 60000 each
expect_eq "exit status" "$status" 0
expect_sum '^copy_list' "1440024 60001 1440024 60001"
cut=$(counter truncated_stacks_count)
[ "$cut" -ge 27233 ] && [ "$cut" -le 27300 ] || fail "$cut stacks are said to be cut: copy_list() has 27,233, and descend() some"

# What is not deep is written as it is: 1,001 frames of descend, and those around it.
profile "$TARGETS/deep_recursion" 1000
expect_sum "^descend" "3470 2 3470 2"
[ "$(depth "^descend")" -ge 1002 ] || fail "the deepest stack of 1,001 levels is written with $(depth "^descend") frames"
