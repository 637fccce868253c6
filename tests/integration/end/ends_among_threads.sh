# One of 12 threads ends the process while the others allocate: nothing that they published is lost, and the status is
# the program's.
ulimit -c 0
for case in "exit 41 exited 41" "_exit 42 exited 42" "quick_exit 43 exited 43" "return 44 exited 44" "abort 134 signaled 6"; do
  read -r how want kind number <<<"$case"
  for round in 1 2 3; do
    rm -f counts
    profile "$TARGETS/workers" counts 1 12 "$how" $((round * 1000 + 7))
    expect_eq "exit status of heapprof after $how" "$status" "$want"
    expect_end "$kind" "$number"
    "$PYTHON" "$SOURCE/tests/support/counters.py" counts 12 profile.json killed || fail "after $how: the profile is not what the threads counted"
  done
done
# And where they all come to their end, the counts are exact: 3 processes, 24 threads.
rm -f counts
profile "$TARGETS/workers" counts 3 8 "done" 20000
expect_eq "exit status" "$status" 0
"$PYTHON" "$SOURCE/tests/support/counters.py" counts 8 profile.json exact || fail "the profiles are not what the threads counted"
# The comparison sees a single event that is missing.
"$PYTHON" -c '
import struct, sys
with open("counts", "r+b") as file:
    slot = list(struct.unpack("<4Q", file.read(32)))
    slot[2] += 1
    file.seek(0)
    file.write(struct.pack("<4Q", *slot))'
! "$PYTHON" "$SOURCE/tests/support/counters.py" counts 8 profile.json exact >/dev/null || fail "a missing event went unnoticed"
