# diff FILE@A FILE@B compares what was live at two snapshots, to the byte, by number and by mark.
expect_status 0 "$HEAPPROF_BIN" run -q --interval marks -o r.json "$TARGETS/snapshots" 1 2 6 exit books.txt
live() { jq ".heapprof.snapshots.snapshots[$1 - 1].devices[0].live_bytes" r.json; }
expect_status 0 "$HEAPPROF_BIN" diff --format json "r.json@2" "r.json@test:round 5"
expect_eq "what was live" "$(jq -c '[.devices[0].metrics | to_entries[] | [.key, .value.base, .value.current]]' out.txt)" "[[\"leaked_bytes\",$(live 2),$(live 5)]]"
expect_status 0 "$HEAPPROF_BIN" diff --all --bytes r.json@1 "r.json@round 6"
expect_in out.txt "live change by place (host)"
expect_not_in out.txt peak

# Nothing changed between a snapshot and itself; a whole profile can be compared with one, by what was live.
expect_status 0 "$HEAPPROF_BIN" diff --exit-code r.json@3 r.json@3
expect_status 0 "$HEAPPROF_BIN" diff r.json@6 r.json
expect_in out.txt "live"
expect_status 1 "$HEAPPROF_BIN" diff --exit-code r.json@1 r.json@6

# A file of that name comes first.
cp r.json a@2
expect_status 0 "$HEAPPROF_BIN" diff a@2 r.json
expect_in out.txt peak
expect_status 0 "$HEAPPROF_BIN" diff a@2@1 a@2@2
expect_not_in out.txt peak

refused 2 diff r.json@1 r.json@end <<'WORDS'
heapprof: error: r.json has no snapshot 'end', only 1 to 6, test: round 1, test: round 2, test: round 3, test: round 4, test: round 5 and 1 more [HP202]
  fix:     see what it has: heapprof report --snapshots r.json
  instead: leave the snapshot out, to see the whole run
WORDS
refused 2 diff r.json "$small@1" <<WORDS
heapprof: error: $small has no snapshots [HP201]
  fix:     keep some: heapprof run --interval 5s -- PROGRAM
  instead: look at what it has of the whole run: heapprof report $small
WORDS
