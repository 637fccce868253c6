# However often libraries come and go at one address, each is named, to the last.
rounds=8000
profile "$TARGETS/reloads" $rounds "$TARGETS/calls_back_alpha.so" "$TARGETS/calls_back_beta.so" "$TARGETS/calls_back_gamma.so"
expect_eq "exit status" "$status" 0
expect_in out.txt same
expect_complete
expect_sum 'alpha_call' "$((1235 * rounds)) $rounds 0 0"
expect_sum 'beta_call' "$((1237 * rounds)) $rounds 0 0"
expect_sum 'gamma_call' "1239 1 0 0"
