# What the agent has for each thread takes nothing of the private memory that a program may have (RLIMIT_DATA): what it
# can map is less by the agent's own variables, and no more.
most_missing=3
"$TARGETS/data_limit" 24 128 >plain.txt
profile "$TARGETS/data_limit" 24 128
expect_eq "exit status" "$status" 0
missing_mib=$(($(cat plain.txt) - $(cat out.txt)))
[ $missing_mib -le $most_missing ] || fail "$missing_mib MiB less under heapprof: $(cat out.txt) of $(cat plain.txt)"
expect_eq "lost events" "$(counter lost_count)" 0
expect_sum allocate_small "29640 24 0 0"
