# Several files; the first rule that fits counts; files of other tools.
with_leaky_profile leaky.json
cp "$SOURCE/tests/cli/suppressions/my.supp" .
echo 'module:leaky  # all of it' >all.supp
"$HEAPPROF_BIN" report --suppressions all.supp --suppressions my.supp --list-suppressions --format json leaky.json >report.json
expect_eq "which rule" "$(jq -c '[.devices[0].suppressions[] | select(.suppressed_leaked_blocks_count > 0) | .file]' report.json)" '["all.supp"]'
expect_status 0 "$HEAPPROF_BIN" report --suppressions all.supp "$foreign/valgrind_heap.json"
