# FILE is the last image of the program; the image that it left by exec gets a number.
profile "$TARGETS/execs" "$TARGETS/execs" second
expect_eq "exit status" "$status" 3
expect_complete
expect_end exited 3
expect_sum '^allocate_second' "4948 4 4948 4"
expect_sum '^allocate_first' "0 0 0 0"
[ -f profile.exec1.json ] || fail "no profile of the first image: $(ls)"
check_profile profile.exec1.json
expect_complete profile.exec1.json
expect_end exec 0 profile.exec1.json
expect_sum '^allocate_first' "3705 3 3705 3" profile.exec1.json
expect_sum '^allocate_second' "0 0 0 0" profile.exec1.json

# An exec that fails changes nothing.
rm profile*
profile "$TARGETS/execs" /no/such/program
expect_eq "exit status" "$status" 4
expect_sum '^allocate_first' "4940 4 4940 4"
expect_eq "profiles" "$(ls profile*)" profile.json
