# Folders: by command; what has no partner is named.
with_grown_profile a.json
mkdir before after
cp a.json before/1.json
cp grown.json after/other-name.json
"$HEAPPROF_BIN" run -q -o before/gone.json sort /dev/null
expect_status 1 "$HEAPPROF_BIN" diff --exit-code before after
expect_in out.txt "leaky"
expect_in out.txt "×"
expect_in out.txt "1 of 1 grew, 0 fell, 0 did not change."
expect_in err.txt "no partner, so not compared: before/gone.json [HP125]"
expect_status 0 "$HEAPPROF_BIN" diff --format csv before after
expect_eq "rows" "$(wc -l <out.txt)" 6
expect_status 0 "$HEAPPROF_BIN" diff --format json before after
expect_eq "pairs" "$(jq -c '[.grew, (.pairs | length), .base_only, .current_only]' out.txt)" '[true,1,["before/gone.json"],[]]'
