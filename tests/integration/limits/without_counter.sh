# A program that forbids itself the time stamp counter, where a read of it is the end: it goes on, and so do its child
# and what it starts. What the kernel says beforehand is asked: those are recorded by another clock.
"$TARGETS/without_counter" starts "$TARGETS/without_counter" || [ $? = 4 ] || skip "no program starts without the counter here"
reason="the program forbade itself the time stamp counter"
# with_counter STATUS ARGUMENTS…: also where the machine's clock is another one
with_counter() {
  rm -f profile*.json
  expect_status "$1" "$HEAPPROF_BIN" run --clock=tsc -o profile.json -- "$TARGETS/without_counter" "${@:2}"
  check_profile profile*.json
}
clock_of() { jq -r .heapprof.coverage.clock "$1"; }
with_counter 5 forks
expect_eq "the child" "$(cat out.txt)" "child $((7 << 8))"
expect_in err.txt "$reason"
child=$(ls profile.*.json)
expect_sum allocate_child "1236000 1000 0 0" "$child"
expect_eq "clocks" "$(clock_of profile.json) $(clock_of "$child")" "tsc sequence"
with_counter 4 starts "$TARGETS/without_counter"
expect_eq "clocks of what is started without it" "$(for file in profile*.json; do clock_of "$file"; done | sort | xargs)" "sequence tsc"
expect_sum allocate_parent "1235000 1000 0 0" "$(grep -lE '"clock": ?"sequence"' profile*.json)"
# The collector that heapprof has prepared for the next process has the wrong clock.
with_counter 6 among "$TARGETS/without_counter"
expect_eq "children" "$(xargs <out.txt)" "child $((7 << 8)) child $((7 << 8)) child $((4 << 8))"
expect_eq "clocks" "$(for file in profile*.json; do clock_of "$file"; done | sort | xargs)" "sequence tsc tsc tsc"
with_counter 3 thread
expect_in err.txt "$reason"
