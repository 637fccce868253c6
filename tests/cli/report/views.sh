# Views: a device, a metric, the largest, the tree.
expect_status 0 "$HEAPPROF_BIN" report --device host --sort total --top 1 --bytes "$small"
expect_in out.txt "TOTAL host"
expect_in out.txt "top 1 of"
expect_not_in out.txt "cuda:0"
expect_not_in out.txt "KiB"
expect_status 0 "$HEAPPROF_BIN" report --tree "$small"
expect_in out.txt "TREE PEAK host"
