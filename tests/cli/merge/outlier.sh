# A profile that stands out among those that are merged is named.
with_profiles_to_merge
"$HEAPPROF_BIN" run -q -o big.json sort /etc/passwd >sorted.txt
"$HEAPPROF_BIN" merge -q -o odd.json a.json b.json c.json big.json
expect_status 0 "$HEAPPROF_BIN" report odd.json
expect_in out.txt "big.json peaked at"
expect_in out.txt "the others at"
