# A child that is forked under a filter which kills makes no system call of ours, also where a handler forked it in the
# middle of an event. The filter lets through what the C library itself needs, and was written without a look at us.
for how in kill errno; do
  for where in "" handler; do
    "$TARGETS/forks_filtered" $how $where >plain.txt || { [ $? = 77 ] && skip "no seccomp filters here"; fail "the program alone"; }
    expect_eq "the program alone" "$(cat plain.txt)" "bad 0"
    profile "$TARGETS/forks_filtered" $how $where
    expect_eq "exit status of '$how $where'" "$status" 0
    expect_eq "the target's word with '$how $where'" "$(cat out.txt)" "bad 0"
    expect_complete
    expect_in err.txt "a child forked under a seccomp filter"
  done
done
