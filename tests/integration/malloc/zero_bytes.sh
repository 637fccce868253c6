# Blocks of no bytes are blocks, requests that cannot be met are nothing, and sizes go beyond 4 GiB.
profile "$TARGETS/zero_bytes"
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_nothing' "0 7 0 6"
expect_sum '^allocate_too_much' "0 0 0 0"
first=$((5 * 1073741824 + 1235)) second=$((6 * 1073741824 + 1237))
expect_sum '^allocate_beyond_4_gib' "$((first + second)) 2 0 0"
expect_eq "peak of it" "$(json profile.json '.ftbl as $f | [.pps[] | select(any(.fs[]; $f[.] | test(": allocate_beyond"))) | .gb] | add')" $second
