# realloc is one event: the old block ends, a new one begins at the realloc; a refused one changes nothing.
profile "$TARGETS/realloc_chain"
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^grow\(' "3503500 1000 0 0"
expect_sum '^refuse' "0 0 0 0"
expect_sum '^shrink' "3 1 0 0"
expect_sum '^grow_array' "3705 1 0 0"
expect_sum '^release' "0 0 0 0"
expect_eq "reallocs" "$(counter reallocs_count)" 1001
# The product that does not fit in 64 bits is refused before there is a realloc.
expect_eq "failed reallocs" "$(counter failed_reallocs_count)" 1
# Between the old block and the new one nothing is counted twice, and nothing is missing.
expect_eq "largest at grow" "$(json profile.json '.ftbl as $f | [.pps[] | select(any(.fs[]; $f[.] | test(": grow\\("))) | .mb] | add')" 7000
base=$(json profile.json '.ftbl as $f | [.pps[] | select(any(.fs[]; $f[.] | test(": main"))| not) | .gb] | add // 0')
expect_eq "peak" "$(json profile.json '.heapprof.devices[0].totals.peak_bytes')" $((base + 7000))
