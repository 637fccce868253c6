# A snapshot at a mark has what the program's own books have then, by function and to the byte: with threads, with each
# kind of stamp, thinned or not, whatever ends the program, and in a forked child.
books() { "$PYTHON" "$SOURCE/tests/support/snapshot_books.py" "$@"; }
# marks STATUS INTERVAL SEED THREADS ROUNDS HOW [FLAGS_OF_RUN…]
marks() {
  local status=$1 interval=$2 seed=$3 threads=$4 rounds=$5 how=$6
  shift 6
  expect_status "$status" "$HEAPPROF_BIN" run -q --interval "$interval" "$@" -o profile.json -- \
    "$TARGETS/snapshots" "$seed" "$threads" "$rounds" "$how" books.txt
  check_profile profile.json
  books profile.json books.txt "$rounds" || fail "seed $seed, $threads threads, $how, '$*': the snapshots are not true"
}
marks 0 10ms 1 1 40 exit
marks 0 10ms 2 4 40 exit
marks 0 10ms 3 16 30 exit --collector-threads 2
marks 0 marks 4 4 40 exit --clock sequence
marks 0 10ms 5 4 30 exit --clock sequence --fence producer
marks 0 marks 6 3 700 exit
expect_eq "snapshots by time" "$(json profile.json '[.heapprof.snapshots.snapshots[] | select(.is_mark | not)] | length')" 0
marks 0 10ms 7 2 30 exit --all-sites

# Killed, all that there was is there: the collector is another process.
marks 137 10ms 8 4 20 KILL
marks 143 10ms 9 4 20 TERM
marks 130 10ms 10 4 20 INT

# More marks than there is room for: those beyond are counted, and there is room for moments in between.
kept_marks='[.heapprof.snapshots.snapshots[] | select(.is_mark)] | length'
for interval in marks 10ms; do
  expect_status 0 "$HEAPPROF_BIN" run -q --interval $interval -o profile.json -- "$TARGETS/snapshots" 11 2 1100 exit books.txt
  check_profile profile.json
  expect_eq "snapshots of marks" "$(json profile.json "$kept_marks")" 750
  lost=$(json profile.json ".heapprof.snapshots.lost_count + ($kept_marks)")
  [ "$lost" -ge 1100 ] || fail "1100 marks, and $lost are kept or counted as lost"
  [ $interval = 10ms ] || expect_eq "marks, kept or lost" "$lost" 1100
done

# A forked child has its own, from its own beginning on.
marks 0 10ms 12 3 20 fork
child=$(echo profile.*.json)
check_profile "$child"
expect_eq "the child's marks" \
  "$(json "$child" '[.heapprof.snapshots.snapshots[] | select(.is_mark) | [.name, .devices[0].live_bytes, .devices[0].live_count]] | tostring')" \
  '[["child",123500,100]]'

# Without the flag there is nothing of it in the profile, also where there are marks.
"$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/snapshots" 1 1 5 exit books.txt
expect_not_in profile.json '"snapshots":'
expect_not_in profile.json '"stepped":'
