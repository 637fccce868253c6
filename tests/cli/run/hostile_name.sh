# A name that would move the cursor does not.
printf -v hostile './\033[2Jx'
expect_status 127 "$HEAPPROF_BIN" run "$hostile"
expect_in err.txt 'no such program: ./\x1b[2Jx [HP001]'
