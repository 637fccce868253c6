# Where a plugin comes to lie at the address of another that is gone, each has its own blocks, with the same frames or
# others, in the program's namespace or in one of their own.
for namespace in global namespace; do
  for second in beta gamma; do
    profile "$TARGETS/replaced_plugin" $namespace 1000 alpha "$TARGETS/calls_back_alpha.so" $second "$TARGETS/calls_back_$second.so" \
      alpha "$TARGETS/calls_back_alpha.so"
    expect_eq "exit status" "$status" 0
    expect_in out.txt same
    expect_complete
    expect_sum 'alpha_call' "2470000 2000 2470000 2000"
    expect_sum "${second}_call" "1235000 1000 1235000 1000"
    expect_sum 'allocate_block' "3705000 3000 3705000 3000"
  done
done
