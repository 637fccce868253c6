# The ring of a thread that is gone is used again, also when another process has taken the thread's id meanwhile.
unshare -p --fork --mount-proc true 2>/dev/null || skip "no namespace for processes can be made here (root)"
status=0
unshare -p --fork --mount-proc "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/taken_id" >out.txt 2>err.txt || status=$?
[ "$status" != 77 ] || skip "the next process id cannot be chosen here"
expect_eq "exit status" "$status" 0
expect_eq "parts of the arena for the second thread" "$(cat out.txt)" 0
