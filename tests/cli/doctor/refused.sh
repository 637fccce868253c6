# Arguments that heapprof doctor does not take.
expect_status 2 "$HEAPPROF_BIN" doctor --format csv
expect_status 2 "$HEAPPROF_BIN" doctor now
expect_in err.txt "'now' is one argument too many [HP058]"
