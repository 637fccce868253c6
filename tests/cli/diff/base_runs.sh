# Several base runs, named or of a folder: their median, and their noise.
with_grown_profile a.json
grown 500 a.json >a2.json
grown 30000 a.json >a3.json
expect_status 0 "$HEAPPROF_BIN" diff a.json a2.json a3.json grown.json
grep -qE '^base +a2\.json +median of 3 runs' out.txt || fail "not the median of the base runs: $(cat out.txt)"
expect_in out.txt "(3 base runs) in host peak."
expect_status 0 "$HEAPPROF_BIN" diff --exit-code --tolerance 0% a.json a2.json grown.json a3.json
mkdir base
cp a.json a2.json a3.json base/
"$HEAPPROF_BIN" run -q -o base/other.json sort /dev/null
expect_status 0 "$HEAPPROF_BIN" diff base grown.json
grep -qE '^base +base/a2\.json +median of 3 runs' out.txt || fail "not the median of the command's runs: $(cat out.txt)"
