# No file of the program's is closed by us, or has another number for us, while one thread closes and opens files and
# others start programs; its record locks stay, and nothing of ours shows in wait() or as a thread.
rounds=${HEAPPROF_LONG:+200}
rounds=${rounds:-80}
right="moved 0 closed 0 failed 0 refused 0 lock 1 1 left 0"
expect_status 0 "$TARGETS/files_of_others" 50
expect_eq "natively" "$(cat out.txt)" "$right"

expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- timeout 300 "$TARGETS/files_of_others" $rounds
expect_eq "under heapprof" "$(cat out.txt)" "$right"
[ "$(ls p*.json | wc -l)" -gt $((rounds * 3 / 4)) ] || fail "the programs were not followed: $(ls p*.json | wc -l)"

# Where the kernel refuses every task more, the program starts all the same.
if [ "$(id -u)" = 0 ]; then
  expect_status 0 "$HEAPPROF_BIN" run -q -o q.json "$TARGETS/files_of_others" refused
else
  not_tried "a limit of tasks: only root can become somebody else"
fi

# Those who trace every task of the process see nothing that breaks them.
if have strace; then
  expect_status 0 "$HEAPPROF_BIN" run -q -o s.json -- strace -f -o trace.txt "$TARGETS/files_of_others" 20
  expect_eq "under strace" "$(cat out.txt)" "$right"
else
  not_tried "strace: not installed"
fi
if have gdb; then
  expect_status 0 "$HEAPPROF_BIN" run -q -o g.json -- gdb -nx -batch -ex run --args "$TARGETS/files_of_others" 20
  expect_in out.txt "$right"
else
  not_tried "gdb: not installed"
fi
