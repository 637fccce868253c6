# Each single run through a scope has the times between which the program called, its thread, what it grew by and how it
# ended, with threads and with each kind of stamp; a kill in the middle leaves all that were.
books() { "$PYTHON" "$SOURCE/tests/support/instance_books.py" "$@"; }
# runs STATUS SEED THREADS ROUNDS HOW [FLAGS_OF_RUN…]
runs() {
  local status=$1 seed=$2 threads=$3 rounds=$4 how=$5
  shift 5
  expect_status "$status" "$HEAPPROF_BIN" run -q "$@" -o profile.json -- "$TARGETS/instances" "$seed" "$threads" "$rounds" books.txt "$how"
  check_profile profile.json
  books profile.json books.txt all || fail "seed $seed, $threads threads, $how, '$*': the runs are not true"
}
runs 0 1 1 400 exit
runs 0 2 4 400 exit
runs 0 3 16 200 exit --collector-threads 2
runs 0 4 4 300 exit --clock sequence
runs 0 5 1 300 exit --clock sequence --fence producer
runs 137 6 4 400 kill

# More runs than there is room for: those that are extreme are there, and all others are counted.
expect_status 0 "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/instances" 7 4 40000 books.txt
check_profile profile.json
books profile.json books.txt thinned || fail "of many runs others are kept than there were"
kept=$(json profile.json '[.heapprof.scopes.scopes[].instances.begin_ns // [] | length] | add')
[ "$kept" -gt 20000 ] || fail "$kept runs are kept"
[ "$kept" -lt 110000 ] || fail "$kept runs are kept: more than there is room for"
