# report --snapshots shows a table and what grew, by number and by mark; what cannot be shown is refused.
expect_status 0 "$HEAPPROF_BIN" run -q --interval marks -o r.json "$TARGETS/snapshots" 1 2 6 exit books.txt
expect_status 0 "$HEAPPROF_BIN" report --snapshots r.json
expect_in out.txt "SNAPSHOTS  6 snapshots, at marks"
expect_in out.txt "test: round 6"
expect_in out.txt "GROWTH host  from 1 (test: round 1) to 6 (test: round 6): "
expect_in out.txt "LIVE host  at 6 (test: round 6): "
expect_in out.txt "LARGEST BLOCKS host  at 6 (test: round 6)"
expect_status 0 "$HEAPPROF_BIN" report --snapshots --between "2..round 4" --bytes r.json
expect_in out.txt "GROWTH host  from 2 (test: round 2) to 4 (test: round 4): "

# JSON says by place what diff says by function: both are what the sites had.
expect_status 0 "$HEAPPROF_BIN" report --snapshots --between "2..test:round 4" --format json r.json
base=$(jq '.snapshots[1].devices[0].live_bytes' out.txt)
current=$(jq '.snapshots[3].devices[0].live_bytes' out.txt)
expect_eq "the places' sums" "$(jq -c '[.between.devices[0].places | (map(.base_bytes) | add), (map(.current_bytes) | add)]' out.txt)" \
  "[$base,$current]"

refused 2 report --snapshots --between 2..7 r.json <<'WORDS'
heapprof: error: r.json has no snapshot '7', only 1 to 6, test: round 1, test: round 2, test: round 3, test: round 4, test: round 5 and 1 more [HP202]
  fix:     see what it has: heapprof report --snapshots r.json
  instead: leave the snapshot out, to see the whole run
WORDS
refused 2 report --snapshots --between 3 r.json <<'WORDS'
heapprof: error: --between takes two snapshots, by number or mark: 2..5 or loaded..trained, not '3' [HP052]
  fix:     give --between another value, or leave it out
WORDS
refused 2 report --between 1..2 r.json <<'WORDS'
heapprof: error: --between needs --snapshots too [HP159]
  fix:     add --snapshots
  instead: leave --between out
WORDS
refused 2 report --snapshots --tree r.json <<'WORDS'
heapprof: error: --snapshots and --tree ask for different things [HP172]
  fix:     leave --tree out
  instead: leave --snapshots out
WORDS
refused 2 report --snapshots --between 1..2 "$small" <<WORDS
heapprof: error: $small has no snapshots [HP201]
  fix:     keep some: heapprof run --interval 5s -- PROGRAM
  instead: look at what it has of the whole run: heapprof report $small
WORDS

# merge says what it leaves out.
expect_status 0 "$HEAPPROF_BIN" merge -q -o sum.json r.json "$small"
says err.txt <<'WORDS'
heapprof: warning: 6 snapshots left out: moments of different runs do not add [HP204]
  fix:     look at them in the profiles themselves: heapprof report --snapshots FILE
  instead: compare two of one profile: heapprof diff FILE@1 FILE@2
WORDS
expect_status 0 "$HEAPPROF_BIN" report sum.json
expect_not_in sum.json '"snapshots":'
