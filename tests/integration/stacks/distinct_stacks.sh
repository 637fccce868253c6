# 16,384 different stacks are 16,384 sites.
status=0
"$HEAPPROF_BIN" run --all-sites -o profile.json -- "$TARGETS/distinct_stacks" 14 || status=$?
expect_eq "exit status" "$status" 0
check_profile profile.json
expect_complete
expect_eq "sites" "$(stacks '^walk' | wc -l)" 16384
expect_eq "different ones" "$(stacks '^walk' | sort -u | wc -l)" 16384
expect_sum '^walk' "20234240 16384 20234240 16384"
