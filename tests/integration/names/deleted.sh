# A program that deletes its own file while it runs is named all the same.
cp "$TARGETS/leaky" doomed
profile "$PWD/doomed" --delete-me
expect_eq "exit status" "$status" 0
[ ! -e doomed ] || fail "the target did not delete itself"
expect_complete
expect_sum '^leak_blocks' "6175 5 6175 5"
expect_sum '^free_blocks' "4948 4 0 0"
