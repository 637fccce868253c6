# An installation without its agent, and one whose agent cannot be loaded.
mkdir -p broken/bin broken/lib/heapprof
cp "$HEAPPROF_BIN" broken/bin/
expect_status 1 broken/bin/heapprof doctor
grep -qE '^missing +agent ' out.txt || fail "no word about the agent: $(cat out.txt)"
expect_in out.txt "fix: "
expect_in out.txt "heapprof cannot profile programs here: missing: 1 of"
echo "no library" >broken/lib/heapprof/libheapprof.so
expect_status 1 broken/bin/heapprof doctor
tr -s ' \n' ' ' <out.txt >words.txt
expect_in words.txt "with it preloaded said nothing"
