# Two libraries that are loaded in turn at one address are told apart, and are named although they are gone at the end.
profile "$TARGETS/dlopen_again" "$TARGETS/plugin_alpha.so" "$TARGETS/plugin_beta.so" 25
expect_eq "exit status" "$status" 0
expect_in out.txt same
expect_complete
expect_sum '^alpha_allocate' "30875 25 30875 25"
expect_sum '^beta_allocate' "30925 25 30925 25"
expect_eq "sites of alpha" "$(stacks '^alpha_allocate' | wc -l)" 1
expect_eq "callers of alpha" "$(stacks '^alpha_allocate' | sed 's/ < main.*//')" "alpha_allocate < use_library"
[ "$(frames '^beta_allocate')" = "beta_allocate ($SOURCE/tests/targets/loader/plugins/plugin.cc:$(line_of "$SOURCE/tests/targets/loader/plugins/plugin.cc" 'keep(malloc'))" ] ||
  fail "frame of beta: $(frames '^beta_allocate')"
[ "$(jq .heapprof.unwinder.forgotten_rules_count profile.json)" -ge 25 ] || fail "rules were kept over unloads: $(jq -c .heapprof.unwinder profile.json)"
[ "$(jq .heapprof.unwinder.made_rules_count profile.json)" -ge 25 ] || fail "no rules were made again: $(jq -c .heapprof.unwinder profile.json)"
