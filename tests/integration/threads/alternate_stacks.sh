# Handlers on alternate stacks that allocate while an event is in progress, at any instruction of the agent, and return
# or jump out: on stacks above and below that of the thread and in it, which the kernel forgets meanwhile
# (SS_AUTODISARM) or not, with and without a filter of system calls. What returns is interrupted and nothing else; what
# is jumped out of is missed by at most one event a jump.
runs=${RUNS:-1200}
filters="none filter"
"$TARGETS/alternate_stacks" plain returns above filter 20 >/dev/null || { filters=none; not_tried "filters: no seccomp here"; }

# in_range WHAT NUMBER LOW HIGH
in_range() { [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || fail "$1: $2, the program's own books say $3 to $4"; }

check() {
  local case=$*
  profile "$TARGETS/alternate_stacks" "$@" "$runs"
  expect_eq "exit status ($case)" "$status" 0
  read -r main_begun main_done handler_begun handler_done jumps <out.txt
  expect_complete
  # A jump leaves at most what the first handler interrupted, and what the second one did in that.
  in_range "abandoned events ($case)" "$(counter abandoned_count)" 0 $((2 * jumps))
  read -r bytes blocks leaked_bytes leaked_blocks < <(leaf '^allocate_in_handler')
  in_range "blocks of the handlers ($case)" "$blocks" "$handler_done" "$handler_begun"
  expect_eq "bytes of the handlers ($case)" "$bytes" $((blocks * 37))
  in_range "leaked blocks of the handlers ($case)" "$leaked_blocks" 0 "$jumps"
  read -r bytes blocks leaked_bytes leaked_blocks < <(leaf '^allocate_in_main')
  in_range "blocks of the program ($case)" "$blocks" "$main_done" "$main_begun"
  expect_eq "bytes of the program ($case)" "$bytes" $((blocks * 35))
  in_range "leaked blocks of the program ($case)" "$leaked_blocks" 0 "$jumps"
}

for filter in $filters; do
  for leaves in returns jumps; do
    check plain $leaves above $filter
    for delivery in alternate autodisarm; do
      for place in above below inside main; do check $delivery $leaves $place $filter; done
    done
  done
done
