# A handler that allocates may interrupt the agent at any instruction: nothing is lost, in the handler or in the
# program.
for where in plain altstack; do
  profile "$TARGETS/signals" $where 500
  expect_eq "exit status" "$status" 0
  read -r main handler jumps <out.txt
  expect_complete
  expect_sum '^allocate_in_handler' "$((handler * 1237)) $handler 0 0"
  read -r bytes blocks leaked_bytes leaked_blocks < <(leaf '^allocate_in_main')
  expect_eq "blocks of the program ($where)" "$bytes $blocks $leaked_blocks" "$((main * 1235)) $main 0"
  # What was interrupted stands outside of the handler.
  stacks '^allocate_in_handler' | grep -q 'allocate_in_handler < .*main' || fail "stacks of the handler end in it: $(stacks '^allocate_in_handler' | head -3)"
  # A signal's frame is stepped over by the interpreter, in a walk from scratch.
  jq -e '.heapprof.unwinder | .special_frames_count >= 1 and .whole_walks_count >= 1 and .changed_stacks_count >= 1' profile.json >/dev/null ||
    fail "how stacks were found: $(jq -c .heapprof.unwinder profile.json)"
done
