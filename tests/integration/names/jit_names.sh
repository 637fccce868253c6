# Frames of JIT code are found by frame pointers, marked as a guess, and named by the map that JIT compilers write for
# perf.
profile "$TARGETS/jit"
map=$(cat out.txt)
at_end() { rm -f "$map"; }
expect_eq "exit status" "$status" 0
expect_eq "lost" "$(counter lost_count)" 0
expect_eq "stack" "$(stacks '^\(anonymous namespace\)::allocate|^allocate' | grep -o 'allocate.* < main' | sed 's/()//g')" \
  "allocate < JS:inner < JS:outer < main"
expect_eq "stacks that are a guess" "$(counter truncated_stacks_count)" 100
[ "$(jq .heapprof.unwinder.guessed_frames_count profile.json)" -ge 2 ] || fail "no frame was guessed"

"$HEAPPROF_BIN" report profile.json >report.txt
expect_in report.txt "JS:inner"
