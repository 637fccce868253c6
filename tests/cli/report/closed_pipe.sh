# A reader that goes away ends a report quietly; a full disk does not pass for success.
{ "$HEAPPROF_BIN" report "$foreign/valgrind_heap.json"; echo $? >status.txt; } 2>pipe.txt | true
expect_eq "words to a closed pipe" "$(cat pipe.txt)" ""
status=0
"$HEAPPROF_BIN" report "$foreign/valgrind_heap.json" >/dev/full 2>err.txt || status=$?
expect_eq "exit status on a full disk" $status 1
expect_in err.txt "[HP066]"
