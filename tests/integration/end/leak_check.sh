# run --leak-check tells apart what is live at exit as the program's own books have it, to the byte: lost, lost by way
# of others, reachable by an inner pointer only, reachable. Alone and among threads, by exit, by a return and by a
# thread that is not the first; with glibc's malloc and others; in a forked child; with every descriptor closed; while a
# thread goes on allocating; a million blocks.
check_kinds() {  # FLAGS_OF_RUN… -- ARGUMENTS OF leak_kinds…
  local flags=()
  while [ "$1" != -- ]; do flags+=("$1"); shift; done
  shift
  rm -f profile.json books
  status=0
  "$HEAPPROF_BIN" run --leak-check --all-sites -o profile.json "${flags[@]}" -- "$TARGETS/leak_kinds" books "$@" >out.txt 2>err.txt ||
    status=$?
  expect_eq "exit status of '$*'" "$status" 0
  check_profile profile.json
  expect_complete
  "$PYTHON" "$SOURCE/tests/support/leak_kinds.py" books profile.json || fail "'$*' is not judged as it is"
  expect_eq "blocks that were live at the end and not judged, of '$*'" "$(unjudged)" 0
  expect_eq "memory that could not be read, of '$*'" "$(json profile.json .heapprof.leak_check.unread_bytes)" 0
}
unjudged() {
  json profile.json '.heapprof.devices[0] | .totals.leaked_count -
    ([.sites | .lost_count, .indirectly_lost_count, .possibly_lost_count, .reachable_count | add] | add)'
}

check_kinds -- exit alone
expect_eq "threads that were stopped" "$(json profile.json .heapprof.leak_check.stopped_threads_count)" 0
check_kinds -- return alone
check_kinds -- exit
expect_eq "threads that were stopped" "$(json profile.json .heapprof.leak_check.stopped_threads_count)" 2
check_kinds -- return
check_kinds -- thread
check_kinds -- leaderless
check_kinds -- closed
check_kinds --clock sequence -- exit
check_kinds --fence producer -- exit
check_kinds --collector-threads 2 -- exit
check_kinds -- exit many

# The one who allocates all the time has a block or none, and what it does meanwhile is in no table.
rm -f profile.json books
"$HEAPPROF_BIN" run -q --leak-check --all-sites -o profile.json -- "$TARGETS/leak_kinds" books churn || fail "churn"
check_profile profile.json
"$PYTHON" "$SOURCE/tests/support/leak_kinds.py" books profile.json || fail "'churn' is not judged as it is"

# A forked child has books of its own; what it had from its parent is searched whole.
rm -f ./*.json books
"$HEAPPROF_BIN" run -q --leak-check --all-sites -o run.%p.json -- "$TARGETS/leak_kinds" books fork || fail "fork"
check_profile run.*.json
children=0
for file in run.*.json; do
  expect_eq "whether $file was judged" "$(json "$file" .heapprof.leak_check.made)" true
  [ "$(json "$file" .heapprof.run.is_fork)" = true ] || continue
  children=$((children + 1))
  "$PYTHON" "$SOURCE/tests/support/leak_kinds.py" books "$file" --inherits || fail "the child is not judged as it is"
done
expect_eq "children" $children 1

# Who does not come to the end of exit() is not judged, and the profile says why.
not_judged() {  # HOW STATUS REASON
  rm -f profile.json books
  status=0
  "$HEAPPROF_BIN" run --leak-check --all-sites -o profile.json -- "$TARGETS/leak_kinds" books "$1" >out.txt 2>err.txt || status=$?
  expect_eq "exit status of '$1'" "$status" "$2"
  check_profile profile.json
  "$PYTHON" "$SOURCE/tests/support/leak_kinds.py" books profile.json --none || fail "'$1' was judged"
  expect_eq "why '$1' is not judged" "$(json profile.json .heapprof.leak_check.reason)" "$3"
  expect_said err.txt "not judged: $3"
}
ulimit -c 0
not_judged _exit 0 "the program did not end by exit() or by a return from main"
not_judged quick_exit 0 "the program did not end by exit() or by a return from main"
not_judged abort 134 "the program was killed, and might have freed them"
not_judged kill 137 "the program was killed, and might have freed them"

# Another allocator's own pages cannot be told from pages that nobody knows of.
for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
  path=$(ldconfig -p | awk -v name=$library '$1 == name { print $NF; exit }')
  [ -n "$path" ] || { not_tried "$library is not installed"; continue; }
  rm -f profile.json books
  for how in exit "exit alone"; do
    # shellcheck disable=SC2086  # two words
    LD_PRELOAD=$path "$HEAPPROF_BIN" run -q --leak-check --all-sites -o profile.json -- "$TARGETS/leak_kinds" books $how other ||
      fail "$how with $library"
    check_profile profile.json
    "$PYTHON" "$SOURCE/tests/support/leak_kinds.py" books profile.json || fail "'$how' with $library is not judged as it is"
  done
done

# Without the flag nothing is asked, and nothing is said.
"$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/leak_kinds" books exit 2>err.txt || fail "without the flag"
expect_eq "the check without the flag" "$(json profile.json .heapprof.leak_check)" null
expect_not_in err.txt "lost "
