# -q and --no-summary: nothing on stderr, and the program's output as it was.
export COLUMNS=80
"$TARGETS/leaky" >plain.txt
expect_status 0 "$HEAPPROF_BIN" run -q -o profile.json "$TARGETS/leaky"
expect_eq "words of -q" "$(cat err.txt)" ""
expect_status 0 "$HEAPPROF_BIN" run --no-summary -o profile.json "$TARGETS/leaky"
expect_eq "words of --no-summary" "$(cat err.txt)" ""
cmp plain.txt out.txt || fail "the program's stdout differs"
