# Devices that one profile has, and profiles of other tools.
with_leaky_profile a.json
expect_status 0 "$HEAPPROF_BIN" diff a.json "$small"
expect_in out.txt "cuda:0 is in current only."
expect_in err.txt "[HP120]"
expect_status 0 "$HEAPPROF_BIN" diff "$foreign/valgrind_heap.json" "$foreign/valgrind_heap.json"
expect_in out.txt "no change"
expect_status 0 "$HEAPPROF_BIN" diff a.json "$foreign/valgrind_heap.json"
expect_in err.txt "a.json is of heapprof, $foreign/valgrind_heap.json of valgrind: they do not count the same [HP123]"
expect_status 2 "$HEAPPROF_BIN" diff --sort temporary a.json "$foreign/valgrind_heap.json"
expect_in err.txt "[HP067]"
