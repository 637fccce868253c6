# Warnings are conversation: stdout stays the product.
expect_status 0 "$HEAPPROF_BIN" report "$small"
expect_in err.txt "heapprof: warning: allocations in libodd.so.1 bypass the hooks"
expect_not_in out.txt "warning"
expect_in out.txt "0 events lost"
