# Threads that fork while others allocate: every child and every thread has its numbers whole.
profile "$TARGETS/forks_from_threads" 8
expect_eq "exit status" "$status" 0
expect_complete
expect_sum '^allocate_in_parent' "49400000 40000 0 0"
expect_eq "children" "$(wc -l <out.txt)" 40
while read -r child; do
  expect_complete profile.$child.json
  expect_sum '^allocate_in_child' "13607 11 13607 11" profile.$child.json
done <out.txt
