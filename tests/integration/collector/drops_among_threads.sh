# With --on-full=drop, 8 threads and a collector that stands still: what is kept and what is lost add up to what the
# program did.
events() { echo $(($(counter allocations_count) + $(counter frees_count) + $(counter lost_count))); }
"$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/workers" counts 1 8 "done" 100 || fail "with little work"
made() {
  "$PYTHON" -c '
import sys
sys.path.insert(0, sys.argv[1])
import counters
print(sum(s.allocations + s.frees for s in counters.read_slots("counts")))' "$SOURCE/tests/support"
}
rest=$(($(events) - $(made)))  # what starting 8 threads takes
rm counts
"$HEAPPROF_BIN" run --on-full=drop -o profile.json -- "$TARGETS/workers" counts 1 8 "done" 300000 2>err.txt &
cli=$!
end=$((SECONDS + 60))
while [ ! -s counts ]; do [ $SECONDS -lt $end ] || fail "the program does not begin"; sleep 0.01; done
kill -STOP $cli
target=$(pgrep -o -P $cli)
at_end() { kill -KILL $cli 2>/dev/null || true; }
wait_for 60 "the program's end" is_over "$target"
kill -CONT $cli
wait $cli || fail "exit status $?"
check_profile profile.json
[ "$(counter lost_count)" -gt 100000 ] || fail "only $(counter lost_count) events were lost: the test tests nothing"
expect_eq "complete" "$(json profile.json .heapprof.run.complete)" false
expect_in err.txt "lost"
expect_eq "events kept and lost" "$(events)" $(($(made) + rest))
