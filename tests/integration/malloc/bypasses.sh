# Libraries that are loaded past the hooks run as without us, are not in the profile, and are named.
unset LD_PRELOAD
for how in deepbind namespace; do
  profile "$TARGETS/bypasses" $how
  expect_eq "exit status" "$status" 0
  expect_sum 'allocate_1235' "1235 1 1235 1"
  expect_sum 'alpha_allocate' "0 0 0 0"
  expect_eq "modules named" "$(json profile.json '.heapprof.coverage.bypassing_modules | map(split("/") | last) | join(" ")')" plugin_alpha.so
  expect_in err.txt "allocations in plugin_alpha.so bypass the hooks and are not in the profile"
done
profile "$TARGETS/bypasses" plain
expect_sum 'alpha_allocate' "1236 1 1236 1"
expect_eq "modules named" "$(json profile.json '.heapprof.coverage.bypassing_modules | length')" 0

# --deepbind=hook: as if it had not asked.
"$HEAPPROF_BIN" run --deepbind=hook -o profile.json -- "$TARGETS/bypasses" deepbind 2>err.txt || fail "--deepbind=hook: $?"
expect_sum 'alpha_allocate' "1236 1 1236 1"
expect_eq "modules named" "$(json profile.json '.heapprof.coverage.bypassing_modules | length')" 0
