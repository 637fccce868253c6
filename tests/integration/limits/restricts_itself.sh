# A program that takes something away from itself after its start (descriptors, limits, its user, its root, namespaces,
# its environment) ends as it does without us, and every block is in its profile.
tried=0
for what in $("$TARGETS/restricts_itself" | grep -v '^filter_'); do  # filters.sh
  rm -rf empty_root profile*.json
  plain=0
  "$TARGETS/restricts_itself" "$what" >plain_out.txt 2>plain_err.txt </dev/null || plain=$?
  if [ $plain = 97 ]; then
    not_tried "$what is not possible here"
    continue
  fi
  expect_eq "exit status of '$what' without us" $plain 11
  rm -rf empty_root
  got=0
  timeout 300 "$HEAPPROF_BIN" run -q -o profile.json -- "$TARGETS/restricts_itself" "$what" >out.txt 2>err.txt </dev/null || got=$?
  expect_eq "exit status of '$what'" $got $plain
  cmp -s out.txt plain_out.txt && cmp -s err.txt plain_err.txt || { cat err.txt; fail "'$what' printed something else"; }
  [ -f profile.json ] || fail "no profile of '$what'"
  check_profile profile.json
  expect_complete
  expect_end exited 11
  expect_sum '^allocate_before' "3705 3 3705 3"
  expect_sum '^allocate_after' "74220000 60000 4948 4"
  expect_sum '^alpha_allocate' "3717 3 3717 3"
  lost=$(json profile.json '[.heapprof.unprofiled_programs[] | "\(.reason) x\(.starts_count)"] | join(", ")')
  case $what in
    change_user_forks | new_pids)  # the children can reach us
      child=$(ls profile.*.json)
      expect_sum '^allocate_before' "1235 1 1235 1" "$child"
      expect_eq "what is said of children of '$what'" "$lost" "" ;;
    no_descriptors_forks)  # their agents ask from a file table of their own
      for child in profile.*.json; do expect_sum '^allocate_after' "74220000 60000 4948 4" "$child"; done
      expect_eq "profiles of '$what'" "$(ls profile.*.json | wc -l)" 3
      expect_eq "what is said of the children of '$what'" "$lost" "" ;;
    no_descriptor_forks | no_memory_forks)
      expect_eq "what is said of the child of '$what'" "$lost" "a forked child without descriptors, memory or a way to heapprof x1" ;;
    *) expect_eq "what is said of children of '$what'" "${lost//*a forked child without descriptors, memory or a way to heapprof x1/}" "" ;;
  esac
  tried=$((tried + 1))
done
[ $tried -ge 10 ] || skip "only $tried of the ways are possible here"
