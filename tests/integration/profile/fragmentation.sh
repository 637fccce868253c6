# What stays resident when it is freed: as the program's own account of its pages has it; whose blocks pin it; where the
# program gives it back, uses it again or keeps one piece of it, nothing of the kind is said. And what of large blocks
# was never touched.
export COLUMNS=200
[ "$(getconf PAGE_SIZE)" = 4096 ] || skip "pages of another size"
# Until the pages were looked at, however busy the machine is.
is_seen() { "$HEAPPROF_BIN" snapshot -q -o now.json "$program" 2>/dev/null && [ "$(json now.json ".heapprof.devices[0].$looked_at")" = true ]; }
at_end() { kill -9 "$heapprof" 2>/dev/null || true; }
run_told() {  # MODE [WHAT IS TRUE ONCE ALL WAS LOOKED AT]
  looked_at=${2:-fragmentation.seen_ns != null}
  "$HEAPPROF_BIN" run -o "$1.json" -- "$TARGETS/keeps_pages" "$1" >"$1.txt" 2>"$1.err" &
  heapprof=$!
  has_program() { program=$(pgrep -P $heapprof -x keeps_pages); }
  wait_for 60 "the program" has_program
  wait_for 60 "a look at the pages" is_seen
  kill -USR1 "$program"
  wait $heapprof || { cat "$1.err"; fail "$1"; }
}
run_mode() { "$HEAPPROF_BIN" run -o "$1.json" -- "$TARGETS/keeps_pages" "$1" >"$1.txt" 2>"$1.err" || { cat "$1.err"; fail "$1"; }; }
of() { json "$1.json" ".heapprof.devices[0].fragmentation.$2"; }

run_told scattered
check_profile scattered.json
read -r resident empty sparse pieces <scattered.txt
# Beside the blocks of the program there is what C++'s runtime and the two vectors have: 400 KiB.
near() {
  local is
  is=$(of scattered "$2")
  [ "$is" -ge "$3" ] && [ "$is" -le $(($3 + 400 * 1024)) ] || fail "$1: $is, and the program's own account $3"
}
near "resident" resident_bytes "$resident"
near "empty" empty_bytes "$empty"
near "nearly empty" sparse_bytes "$sparse"
got=$(of scattered empty_pieces_count)
[ "$got" -ge "$pieces" ] && [ "$got" -le $((pieces + 4)) ] || fail "pieces: $got, and the program's own account $pieces"
# It frees after 60 ms of sleep.
from=$(of scattered from_ns)
[ "$from" -ge 60000000 ] && [ "$from" -le "$(of scattered seen_ns)" ] || fail "it had fallen at $from ns"
expect_eq "whose blocks" "$(json scattered.json '.heapprof.devices[0].fragmentation.blocks_of[0].owner_blocks_count')" 1000
expect_in scattered.err "of the heap stay resident and unused, from "
expect_in scattered.err "1,000 blocks of kept_block (keeps_pages.cc:"
expect_status 0 "$HEAPPROF_BIN" report --findings --format json scattered.json
expect_eq "the first finding" "$(jq -r '.findings[0] | "\(.kind) \(.is_pinned) \(.function)"' out.txt)" \
  "fragmentation true (anonymous namespace)::kept_block"
expect_status 0 "$HEAPPROF_BIN" report scattered.json
expect_in out.txt "on unused, and resident"
expect_status 0 "$HEAPPROF_BIN" report --format json scattered.json
expect_eq "the report's" "$(jq -r '.devices[0].fragmentation.empty_bytes' out.txt)" "$(of scattered empty_bytes)"

# In one piece below the last block: the allocator could give it back, and no place is blamed.
run_told top
expect_status 0 "$HEAPPROF_BIN" report --findings --format json top.json
expect_eq "one piece" "$(jq -r '.findings[] | select(.kind == "fragmentation") | "\(.is_pinned) \(.function)"' out.txt)" "false null"

for mode in trimmed again returned; do
  run_mode "$mode"
  expect_status 0 "$HEAPPROF_BIN" report --findings --format json "$mode.json"
  expect_eq "$mode" "$(jq '[.findings[] | select(.kind == "fragmentation")] | length' out.txt)" 0
done

# A sum of runs has none, and says nothing of it.
"$HEAPPROF_BIN" merge -o sum.json scattered.json top.json || fail "merge"
expect_eq "of a sum" "$(of sum from_ns)" null

# Of large blocks: to the page as the program's own account has it.
run_told rooms "untouched.blocks_of[0].large_count == 3"  # a look may come when there is one block, or two
check_profile rooms.json
part() { json rooms.json ".heapprof.devices[0].untouched.blocks_of[0].$1"; }
expect_eq "untouched" "$(part untouched_bytes)" "$(cat rooms.txt)"
expect_eq "of blocks" "$(part large_count) $(part large_bytes)" "3 $((3 * 40 << 20))"
expect_in rooms.err "room (keeps_pages.cc:"
expect_in rooms.err "has 120 MiB, of which 8.01 MiB had been touched at "
expect_status 0 "$HEAPPROF_BIN" report --findings --format json rooms.json
expect_eq "the first finding" "$(jq -r '.findings[0] | "\(.kind) \(.large_count) \(.cost_bytes)"' out.txt)" "untouched 3 $(cat rooms.txt)"
expect_status 0 "$HEAPPROF_BIN" report --format json rooms.json
expect_eq "the report's" "$(jq -r '.devices[0].untouched.blocks_of[0].untouched_bytes' out.txt)" "$(cat rooms.txt)"
expect_status 0 "$HEAPPROF_BIN" report rooms.json
expect_in out.txt "not touched at "
