# What the program names of its memory is what it booked itself, by name and function and to the byte: with threads that
# resize and free what others named, by each kind of stamp, killed or not.
books() { "$PYTHON" "$SOURCE/tests/support/name_books.py" "$@"; }
# named STATUS SEED THREADS OPERATIONS HOW [FLAGS_OF_RUN…]
named() {
  local status=$1 seed=$2 threads=$3 operations=$4 how=$5
  shift 5
  expect_status "$status" "$HEAPPROF_BIN" run -q "$@" -o profile.json -- \
    "$TARGETS/names" "$seed" "$threads" "$operations" "$how" books.txt
  check_profile profile.json
  expect_complete
  books profile.json books.txt || fail "seed $seed, $threads threads, $how, '$*': the names are not true"
}
for threads in 1 2 8 32; do named 0 $threads $threads $((200000 / threads)) exit; done
named 0 101 8 20000 exit --clock sequence
named 0 102 8 20000 exit --clock sequence --fence producer
named 0 103 8 20000 exit --collector-threads 2
named 0 104 8 20000 exit --all-sites
named 137 105 8 20000 KILL
expect_status 0 "$TARGETS/names" 1 4 4000 exit books.txt  # without a profiler

# The most that was live under a name; a realloc takes the name along, a free ends it.
profile "$TARGETS/names" most
expect_eq "names" "$(json profile.json '[.heapprof.devices[0].names[] | [.name, .max_bytes, .max_count, .total_bytes, .total_count, .leaked_bytes, .leaked_count]] | tostring')" \
  '[["cache",300,2,450,3,150,1],["table",100,1,150,2,0,0]]'
expect_eq "names of nothing" "$(json profile.json .heapprof.counters.unmatched_names_count)" 1
"$HEAPPROF_BIN" report profile.json >report.txt
expect_in report.txt "by name: cache up to 300 B, live at exit 150 B; table up to 100 B, live at exit 0 B;"
expect_in report.txt "1 name was given where nothing was live"
expect_eq "the report's JSON" \
  "$("$HEAPPROF_BIN" report --format json profile.json | json - '[.devices[0].names[] | [.name, .sites[0].function]] | tostring' | sed 's/(anonymous namespace)::\|<[^>]*>//g')" \
  '[["cache","void* take(unsigned long)"],["table","void* take(unsigned long)"]]'

# A forked child names what it allocated itself.
"$HEAPPROF_BIN" run -q -o fork.json -- "$TARGETS/names" fork
expect_eq "the parent's" "$(json fork.json '[.heapprof.devices[0].names[] | [.name, .leaked_bytes]] | tostring')" '[["parent'"'"'s",1235]]'
child=$(echo fork.*.json)
check_profile "$child"
expect_eq "the child's" "$(json "$child" '[.heapprof.devices[0].names[] | [.name, .leaked_bytes]] | tostring')" '[["child'"'"'s",77]]'
expect_eq "the child's, of its parent's block" "$(json "$child" .heapprof.counters.unmatched_names_count)" 1

# Runs add: the maxima as peaks do.
cp profile.json copy.json
"$HEAPPROF_BIN" merge -o sum.json profile.json copy.json
expect_status 0 "$HEAPPROF_BIN" report sum.json
expect_eq "merged" "$(json sum.json '[.heapprof.devices[0].names[] | [.name, .max_bytes, .total_count, .leaked_bytes]] | tostring')" \
  '[["cache",600,6,300],["table",200,4,0]]'

# What a name had is compared.
"$HEAPPROF_BIN" run -q -o small.json -- "$TARGETS/names" 1 1 2000 exit books.txt
"$HEAPPROF_BIN" run -q -o large.json -- "$TARGETS/names" 1 1 20000 exit books.txt
most() { json "$1" '.heapprof.devices[0].names[] | select(.category == "model" and .name == "KV cache") | .max_bytes'; }
expect_eq "what diff says of a name" \
  "$("$HEAPPROF_BIN" diff --format json small.json large.json | json - '.names[] | select(.device == "host" and .category == "model" and .name == "KV cache" and .number == "max_bytes") | [.base, .current] | tostring')" \
  "[$(most small.json),$(most large.json)]"
"$HEAPPROF_BIN" diff small.json large.json >diff.txt
expect_in diff.txt "NAMES  "
expect_in diff.txt "model: KV cache most"
"$HEAPPROF_BIN" diff --format markdown small.json large.json >diff.md
expect_in diff.md "| name of memory |"
"$HEAPPROF_BIN" diff small.json small.json >diff.txt
expect_not_in diff.txt "NAMES"

# A program that names nothing has nothing of it in its profile.
profile "$TARGETS/snapshots" 1 1 5 exit books.txt
expect_not_in profile.json '"names":'
