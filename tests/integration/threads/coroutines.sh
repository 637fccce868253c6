# Coroutines on small stacks of their own, by swapcontext and by a switch written by hand: every block is there, with
# its own frames.
for kind in context handmade; do
  profile "$TARGETS/coroutines" $kind 300 100
  expect_eq "exit status ($kind)" "$status" 0
  # The outermost frame of a coroutine may have no caller that anyone could find: stacks of one made by hand may be
  # marked as cut, never be wrong. makecontext's ends with libc's start of it.
  [ $kind != context ] || expect_eq "stacks that end early" "$(counter truncated_stacks_count)" 0
  expect_eq "lost events ($kind)" "$(counter lost_count)" 0
  expect_sum '^run_coroutine' "37050000 30000 0 0"
  for depth in 1 2 3 4 5 6 7; do
    expect_eq "blocks at depth $depth ($kind)" "$("$PYTHON" - "$depth" <<'P'
import json, sys
profile = json.load(open("profile.json"))
named = lambda pp: [profile["ftbl"][f] for f in pp["fs"]]
print(sum(pp["tbk"] for pp in profile["pps"] if sum(": allocate_here" in f for f in named(pp)) == int(sys.argv[1])))
P
)" $(((300 + 7 - depth) / 7 * 100))
  done
done
