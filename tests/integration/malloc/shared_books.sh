# Functions that may be an allocator's are tried in a copy of the process, which writes nothing of what the program
# shares with others.
profile "$TARGETS/shared_books"
expect_eq "status" "$status" 0
expect_eq "blocks that are counted" "$(xargs <out.txt)" "1 0"
expect_sum '^mi_malloc' "1235 1 0 0"
