# What grew is shown, and --exit-code says so, by the metric and the tolerance that were asked for.
with_grown_profile a.json
expect_status 0 "$HEAPPROF_BIN" diff a.json grown.json
expect_in out.txt "▲"
expect_in out.txt "+97.7 KiB"
expect_status 1 "$HEAPPROF_BIN" diff --exit-code a.json grown.json
expect_status 0 "$HEAPPROF_BIN" diff --exit-code grown.json a.json
expect_status 0 "$HEAPPROF_BIN" diff --exit-code --tolerance 10000% a.json grown.json
expect_status 0 "$HEAPPROF_BIN" diff --exit-code --sort allocations a.json grown.json
expect_status 1 "$HEAPPROF_BIN" diff --exit-code --sort leaked a.json grown.json
expect_status 0 "$HEAPPROF_BIN" diff --bytes a.json grown.json
expect_in out.txt "+100,000 B"
