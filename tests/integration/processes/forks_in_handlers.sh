# A child that a signal handler forked in the middle of an event goes on unharmed, followed or not, and spoils no ring.
for flag in --no-follow --no-summary; do
  expect_status 0 timeout 100 "$HEAPPROF_BIN" run -q $flag -o profile.json -- "$TARGETS/forks_in_handlers"
  expect_eq "the target's word with $flag" "$(cat out.txt)" "bad 0"
  expect_eq "corrupt records with $flag" "$(json profile.json .heapprof.counters.corrupt_records_count)" 0
  expect_eq "complete with $flag" "$(json profile.json .heapprof.run.complete)" true
done
[ "$(ls profile.[0-9]*.json | wc -l)" -ge 200 ] || fail "children are missing: $(ls profile.[0-9]*.json | wc -l)"
