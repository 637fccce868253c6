# run --leak-check says who owns what is lost, to the byte: cycles of shared_ptr with what they lead to, lists that are
# linked both ways, blocks that alone lead to others; the largest 255 of many owners, and the rest in one sum. Summary,
# report and findings name both ends of a cycle, and what lets go.
export COLUMNS=300
source_file=$SOURCE/tests/targets/end/holds_each_other.cc
lose() {  # WAYS…
  rm -f profile.json
  "$HEAPPROF_BIN" run --leak-check --all-sites -o profile.json -- "$TARGETS/holds_each_other" "$@" >out.txt 2>err.txt ||
    { cat err.txt; fail "losing $*"; }
  check_profile profile.json
  expect_complete
  expect_eq "whether '$*' was judged" "$(json profile.json .heapprof.leak_check.made)" true
  expect_eq "what owners of '$*' have, beside what is lost" "$(json profile.json '.heapprof.devices[0] |
    [([.lost_owners[].lost_bytes] | add), ([.lost_owners[].lost_count] | add),
     ([.sites | .lost_bytes, .indirectly_lost_bytes | add // 0] | add), ([.sites | .lost_count, .indirectly_lost_count | add // 0] | add)] |
    "\(.[0] - .[2]) bytes, \(.[1] - .[3]) blocks"')" "0 bytes, 0 blocks"
}
# owners FILTER: of each "CYCLE OWNERS BYTES BLOCKS", then for each part its function, bytes and blocks
owners() {
  json profile.json '. as $p | .heapprof.devices[0].lost_owners[] | [.is_cycle, .owners_count, .lost_bytes, .lost_count,
    ([.blocks_of[] | ([.fs[] | $p.ftbl[.] | select(test("holds_each_other.cc"))][0] | capture(": (.*::)?(?<name>[a-z_]+)").name) +
      " \(.owner_bytes) \(.owner_blocks_count)"] | join(", "))] | join(" ")'
}
at() { echo "$1 (holds_each_other.cc:$(line_of "$source_file" "$2"))"; }

lose pairs
expect_eq "who holds the pairs" "$(owners)" "true 40 164160 120 make_parent 2240 40, make_child 1920 40"
parent=$(at make_parent "std::make_shared<Parent>()")
child=$(at make_child "std::make_shared<Child>()")
expect_in err.txt "worst  $parent and $child point to each other: 160 KiB lost in 40 cycles; let one of them point without owning (std::weak_ptr)"
expect_in err.txt "with $child"
expect_status 0 "$HEAPPROF_BIN" report profile.json
expect_in out.txt "LOST AT EXIT host"
expect_in out.txt "with $child"
expect_not_in out.txt "fill_text  holds_each_other.cc"
expect_status 0 "$HEAPPROF_BIN" report --findings profile.json
expect_in out.txt "160 KiB lost in 40 cycles"
expect_status 0 "$HEAPPROF_BIN" report --findings --format json profile.json
expect_eq "the finding" "$(jq -r '.findings[0] | "\(.kind) \(.owners_count) \(.is_cycle) \([.cycle_with[].line] | join(" "))"' out.txt)" \
  "small-never-freed 40 true $(line_of "$source_file" "std::make_shared<Child>()")"
expect_status 0 "$HEAPPROF_BIN" report --format json profile.json
expect_eq "the report's owners" "$(jq -r '.devices[0].lost_owners[] | "\(.is_cycle) \(.owners_count) \(.lost_bytes) \([.blocks_of[].owner_bytes] | join(" "))"' out.txt)" \
  "true 40 164160 2240 1920"
cp profile.json pairs.json

lose lists
expect_eq "who holds the lists" "$(owners)" "true 30 111150 90 make_node 37050 30, make_node 37050 30, make_node 37050 30"
expect_in err.txt "worst  blocks of $(at make_node "malloc(1235)") point to each other: 109 KiB lost in 30 cycles; free them after their last use"
expect_in err.txt "in a cycle"

lose tables
expect_eq "who holds the rows" "$(owners)" "false 3 374400 303 make_table 3600 3"
expect_in err.txt "worst  $(at make_table "malloc(150") lost 3 blocks, with what only they lead to 366 KiB in 303 blocks: no pointer leads to them any more"

lose pairs lists tables many
expect_eq "owners that are kept" "$(json profile.json '.heapprof.devices[0].lost_owners | length')" 256
expect_eq "the rest" "$(json profile.json '[.heapprof.devices[0].lost_owners[] | select(.blocks_of == [])][0] | "\(.owners_count) \(.lost_bytes) \(.lost_count)"')" \
  "48 59520 48"
expect_eq "the largest" "$(owners | head -3 | cut -d" " -f1-4)" "false 3 374400 303
true 40 164160 120
true 30 111150 90"

# In a sum owners are those of both.
"$HEAPPROF_BIN" merge -o sum.json pairs.json profile.json || fail "merge"
expect_status 0 "$HEAPPROF_BIN" report sum.json
expect_eq "the pairs of both" "$(json sum.json '.heapprof.devices[0].lost_owners[] | select(.owners_count == 80) | .lost_bytes')" 328320

# Where a row has no room for a place with its line, it has the function.
COLUMNS=90 "$HEAPPROF_BIN" report pairs.json >narrow.txt || fail "a narrow report"
expect_in narrow.txt "with make_child"
expect_not_in narrow.txt "with make_child (holds"

# Nothing is said of owners where nothing was lost, or no check was asked for.
"$HEAPPROF_BIN" run -q --leak-check -o profile.json -- "$TARGETS/holds_each_other" || fail "losing nothing"
expect_eq "owners of nothing" "$(json profile.json '.heapprof.devices[0].lost_owners')" null
"$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/holds_each_other" pairs || fail "without the flag"
expect_eq "owners without a leak check" "$(json profile.json '.heapprof.devices[0].lost_owners')" null
