# A name of a profile that is chosen by us.
export COLUMNS=80
expect_status 0 "$HEAPPROF_BIN" run "$TARGETS/leaky"
file=$(sed -n 's/^saved  \(heapprof\.leaky\.[0-9]*\.json\)  .*/\1/p' err.txt)
[ -s "$file" ] || fail "no file of that name: '$file'"
