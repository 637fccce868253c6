# A program is recorded from a moment on, paused, sampled, recorded whole, as it is told while it runs: what was
# recorded whole is exact, what began in a pause is in no number, and every end is seen.
at_end() { kill -9 $program $runner 2>/dev/null || true; }
program='' runner='' said=0
begin() { # FLAGS…: the program under heapprof, as $program; words for it go to descriptor 7
  rm -f words said.txt profile.json
  said=0
  mkfifo words
  "$HEAPPROF_BIN" run -q "$@" -o profile.json -- "$TARGETS/sampled_sizes" phases <words >said.txt &
  runner=$!
  exec 7>words
}
word() { # WORDS: says each, and waits until it is done
  local one
  for one in "$@"; do
    echo "$one" >&7
    said=$((said + 1))
    wait_for 60 "an answer to '$one'" has_lines said.txt $said
  done
  program=$(pgrep -P $runner -x sampled_sizes || true)
}
records() { # whether a block that begins now is recorded
  word Z
  "$HEAPPROF_BIN" snapshot -q -o now.json "$program"
  [ "$(sum '::take<' now.json)" != "$nothing" ]
}
tell() { "$HEAPPROF_BIN" "$@" 2>told.txt || { cat told.txt >&2; fail "heapprof $*: $?"; }; }
finish() {
  exec 7>&-
  wait $runner || fail "the run ended with $?"
  check_profile profile.json
  expect_complete
}
of() { sum "take<\\(char\\)$(printf %d "'$1")>"; } # LETTER
expect_of() { expect_eq "bytes, blocks, leaked bytes, leaked blocks of $1" "$(of "$1")" "$2"; }
whole="1000000 1000 500000 500" # of a letter whose blocks are all recorded
freed="1000000 1000 0 0"
nothing="0 0 0 0"

# Paused at first; then all, some, none, all.
begin --start=paused
word A
tell resume "$program"
expect_in told.txt "as before the pause"
word B
tell resume --sample 16KiB "$program"
word C C C C
tell pause "$program"
word D
tell mark "$program" "from outside"
tell resume --exact "$program"
word E
finish
expect_of A "$nothing"
expect_of B "$whole"
expect_of D "$nothing"
expect_of E "$whole"
[ "$(of C | cut -d' ' -f1)" -gt 0 ] || fail "of 4 MB nothing was chosen in 16 KiB"
expect_eq "the mark" "$(json profile.json '.heapprof.scopes.marks[].name')" "from outside"
expect_eq "paused for some time" "$(json profile.json '.heapprof.sampling.unrecorded_ns > 1000000')" true

# What was recorded whole ends, while blocks are sampled and in a pause; who began sampled is known to be freed, too.
begin --sample 4KiB
word A B
tell resume --exact "$program"
word C
tell pause "$program"
word free D
tell resume --sample 512 "$program"
word E free
finish
expect_of C "$freed"
expect_of D "$nothing"
for letter in A B E; do expect_eq "live at exit of $letter" "$(of $letter | cut -d' ' -f3-)" "0 0"; done
# Ends of blocks that began in the pause are told, and are no frees of anything that is in the numbers.
expect_eq "blocks that began and did not end" \
  "$(json profile.json '.heapprof.counters | .allocations_count - .frees_count - .reallocs_count - .unseen_frees_count')" \
  "$(json profile.json '[.pps[].ebk] | add')"

# The run as a whole, by heapprof's own number, and at the program's own mark.
begin --start=at=mark:go
word A mark
wait_for 60 "recording from the mark on" records
word B
tell pause $runner
word C
finish
expect_of A "$nothing"
expect_of B "$whole"
expect_of C "$nothing"

begin --start=at=mark:go
word A
tell mark "$program" go
word B
finish
expect_of A "$nothing"
expect_of B "$whole"
expect_status 2 "$HEAPPROF_BIN" check --max-peak host=1GiB profile.json
expect_in err.txt "was paused"

# A is done long before, on a busy machine too; B comes when blocks are recorded.
begin --start=after=5s
word A
wait_for 60 "recording after 5 s" records
word B
finish
expect_of A "$nothing"
expect_of B "$whole"

# A child that was forked in a pause is recorded from the same moment on, though its parent is gone.
rm -f forked.*.json
"$HEAPPROF_BIN" run -q --wait --start=after=100ms -o 'forked.%p.json' -- "$TARGETS/sampled_sizes" daemon
expect_eq "what the child allocated" "$(for file in forked.*.json; do sum "take<\\(char\\)66>" "$file"; done | sort -u | tail -1)" "1000000 1000 1000000 1000"

# A distance that was drawn for a large interval is not waited for.
begin --sample 16GiB
word A
tell resume --sample 256 "$program"
word B
finish
expect_of A "$nothing"
[ "$(of B | cut -d' ' -f1)" -gt 500000 ] || fail "of 1 MB hardly anything was chosen in 256 bytes"

# Wrong ones.
begin
word A
expect_status 2 "$HEAPPROF_BIN" mark "$program"
expect_in err.txt HP293
expect_status 2 "$HEAPPROF_BIN" mark "$program" "$(printf 'x%.0s' $(seq 200))"
expect_status 2 "$HEAPPROF_BIN" resume --sample 1KiB --exact "$program"
expect_status 2 "$HEAPPROF_BIN" resume --sample 1B "$program"
expect_status 2 "$HEAPPROF_BIN" pause
expect_status 1 "$HEAPPROF_BIN" pause 1
expect_status 2 "$HEAPPROF_BIN" pause "$program" more
expect_in err.txt HP058
finish
expect_of A "$whole"
for start in noon after= after=never at=mark: at=dusk; do
  expect_status 125 "$HEAPPROF_BIN" run --start=$start -- true
  expect_in err.txt HP294
done

# What needs every block goes on with every block.
begin --leak-check
word A
expect_status 1 "$HEAPPROF_BIN" pause "$program"
expect_in err.txt HP292
expect_status 1 "$HEAPPROF_BIN" resume --sample 4KiB $runner
word B
finish
expect_of B "$whole"
