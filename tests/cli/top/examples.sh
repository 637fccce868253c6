# heapprof alone shows examples on less than a screen; --version and --help.
expect_status 0 "$HEAPPROF_BIN"
expect_eq "lines of heapprof alone" "$(wc -l <out.txt)" 12
expect_eq "what stderr says" "$(cat err.txt)" ""
expect_eq "first example" "$(sed -n 3p out.txt | cut -c1-33)" "  heapprof run ./render scene.usd"
cp out.txt alone.txt
expect_status 0 "$HEAPPROF_BIN" -h
cmp alone.txt out.txt || fail "-h and no argument differ"

expect_status 0 "$HEAPPROF_BIN" --version
grep -qxE 'heapprof [0-9]+\.[0-9]+\.[0-9]+' out.txt || fail "no version: $(cat out.txt)"
expect_status 0 "$HEAPPROF_BIN" --help
expect_in out.txt "report"
cp out.txt long.txt
expect_status 0 "$HEAPPROF_BIN" help
cmp long.txt out.txt || fail "help and --help differ"
for word in version -V; do
  expect_status 0 "$HEAPPROF_BIN" $word
  grep -qxE 'heapprof [0-9]+\.[0-9]+\.[0-9]+' out.txt || fail "no version: $(cat out.txt)"
done
