# A child that a signal handler forked in the middle of an event goes on unharmed, followed or not, and spoils no ring;
# so does one that returns from the handler long after its parent.
for flag in --no-follow --no-summary; do
  for how in "" quiet; do
    rm -f profile*.json
    expect_status 0 timeout 300 "$HEAPPROF_BIN" run -q $flag --all-processes -o profile.json -- "$TARGETS/forks_in_handlers" $how
    expect_eq "the target's word with $flag $how" "$(cat out.txt)" "bad 0"
    expect_eq "corrupt records with $flag $how" "$(json profile.json .heapprof.counters.corrupt_records_count)" 0
    expect_eq "lost with $flag $how" "$(json profile.json .heapprof.counters.lost_count)" 0
    expect_eq "complete with $flag $how" "$(json profile.json .heapprof.run.complete)" true
    [ "$flag$how" != --no-summary ] || [ "$(ls profile.[0-9]*.json | wc -l)" = 200 ] ||
      fail "children are missing: $(ls profile.[0-9]*.json | wc -l)"
  done
done
