# A reader that goes away is no error.
cp "$small" r.json
"$HEAPPROF_BIN" export -q --format speedscope r.json | head -c 1 >/dev/null
expect_eq "status of export before a reader that went away" "${PIPESTATUS[0]}" 0
