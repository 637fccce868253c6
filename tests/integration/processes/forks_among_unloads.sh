# A child that was forked while another thread unloads a library ends well, and has its profile: nothing of ours walks
# the loader's list there, in which an object may stand that is not mapped any more.
profile "$TARGETS/forks_among_unloads" "$TARGETS/plugin_alpha.so" "$TARGETS/plugin_beta.so" "$TARGETS/thread_local.so" 600
expect_eq "exit status" "$status" 0
expect_eq "the target's word" "$(cat out.txt)" "bad 0"
expect_complete
children=(profile.[0-9]*.json)
expect_eq "profiles of children" "${#children[@]}" 600
for child in "${children[@]:0:50}"; do
  expect_complete "$child"
  expect_sum 'allocate_in_child' "1237 1 1237 1" "$child"
done
