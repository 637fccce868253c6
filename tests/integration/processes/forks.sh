# A forked child gets a profile of its own: what it inherited is not its own, and what it frees of that is known.
profile "$TARGETS/forks" 3
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_in_parent' "3705 3 2470 2"
expect_sum '^allocate_in_child' "0 0 0 0"
expect_eq "children" "$(wc -l <out.txt)" 3
while read -r child; do
  file=profile.$child.json
  [ -f "$file" ] || fail "no profile of child $child: $(ls)"
  check_profile "$file"
  expect_complete "$file"
  # Not heapprof's child: how it ended is known only where the kernel tells it.
  case "$(json "$file" '.heapprof.run | "\(.end) \(.status)"')" in "exited 5" | "unknown 0") ;; *) fail "the end of child $child" ;; esac
  expect_sum '^allocate_in_child' "6185 5 4948 4" "$file"
  expect_sum '^allocate_in_parent' "0 0 0 0" "$file"
  expect_eq "inherited frees" "$(counter inherited_frees_count "$file")" 1
  expect_eq "is_fork" "$(json "$file" .heapprof.run.is_fork)" true
  expect_eq "pid" "$(json "$file" .pid)" "$child"
done <out.txt

# A child that has allocated nothing yet, and whose own child by vfork does, in memory that both have.
rm profile.*
profile "$TARGETS/forks" 2 vfork
expect_complete
while read -r child; do
  expect_complete "profile.$child.json"
  expect_sum '^allocate_in_child' "6185 5 4948 4" "profile.$child.json"
  expect_eq "events of its vfork child" "$(counter events_before_agent_count "profile.$child.json")" 1
done <out.txt
expect_eq "profiles" "$(find . -name 'profile*.json' | wc -l)" 3

rm profile.*
"$HEAPPROF_BIN" run --no-follow -o profile.json -- "$TARGETS/forks" 2 >out.txt || fail "with --no-follow"
expect_eq "profiles with --no-follow" "$(ls profile*json)" profile.json
expect_sum '^allocate_in_parent' "3705 3 2470 2"
