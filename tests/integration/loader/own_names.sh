# What a program calls getauxval and _r_debug is not taken for libc's and the loader's.
"$TARGETS/own_names" >plain.txt && fail "it ends with another status"
profile "$TARGETS/own_names"
expect_eq "status" "$status" 4
expect_eq "output" "$(cat out.txt)" "$(cat plain.txt)"
expect_complete
expect_sum '^allocate' "12350 10 12350 10"
