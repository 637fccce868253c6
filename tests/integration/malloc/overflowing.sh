# A block of an impossible size, which an allocator gave by mistake, does not end the records of its thread.
profile "$TARGETS/overflowing"
expect_eq "output" "$(cat out.txt)" given
expect_complete
expect_sum '^allocate' "12350 10 12350 10"
