# What Valgrind writes today is read, and the totals are those that Valgrind itself prints.
command -v valgrind >/dev/null || missing valgrind "Valgrind is not installed (apt-get install valgrind)"
make=$BUILD/tests/make_profile

valgrind --tool=dhat --dhat-out-file=dhat.json "$TARGETS/realloc_chain" >out.txt 2>err.txt || fail "valgrind failed: $(cat err.txt)"
"$make" rewrite dhat.json >ours.json
total=$(sed -n 's/.*Total: *\([0-9,]*\) bytes in \([0-9,]*\) blocks.*/\1 \2/p' err.txt | tr -d ,)
peak=$(sed -n 's/.*At t-gmax: *\([0-9,]*\) bytes in \([0-9,]*\) blocks.*/\1 \2/p' err.txt | tr -d ,)
end=$(sed -n 's/.*At t-end: *\([0-9,]*\) bytes in \([0-9,]*\) blocks.*/\1 \2/p' err.txt | tr -d ,)
[ -n "$total" ] || fail "no total in $(cat err.txt)"
expect_eq total "$(json ours.json '.heapprof.devices[0].totals | "\(.total_bytes) \(.total_count)"')" "$total"
expect_eq peak "$(json ours.json '.heapprof.devices[0].totals | "\(.peak_bytes) \(.peak_count)"')" "$peak"
expect_eq leaked "$(json ours.json '.heapprof.devices[0].totals | "\(.leaked_bytes) \(.leaked_count)"')" "$end"
expect_eq dialect "$(json ours.json .heapprof.dialect)" valgrind

# Inlined functions, which Valgrind only shows when asked.
valgrind --tool=dhat --read-inline-info=yes --dhat-out-file=inlined.json "$TARGETS/inlined" >out.txt 2>err.txt || fail "valgrind failed: $(cat err.txt)"
"$make" rewrite inlined.json >inlined_ours.json
[ "$(json inlined_ours.json '.heapprof.frames.inlined | length')" -gt 0 ] || fail "no frame is marked as inlined"

valgrind --tool=dhat --mode=copy --dhat-out-file=copy.json "$TARGETS/realloc_chain" >out.txt 2>&1
expect_status 3 "$make" rewrite copy.json
expect_in err.txt "not of the heap"
