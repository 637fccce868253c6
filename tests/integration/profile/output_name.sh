# Without -o the profile is heapprof.PROGRAM.PID.json in the current folder, and never replaces an earlier one.
"$HEAPPROF_BIN" run -q -- "$TARGETS/leaky" || fail "exit status $?"
file=$(ls)
expect_eq "files" "$(echo "$file" | wc -l)" 1
expect_eq "name" "$file" "heapprof.leaky.$(json "$file" .pid).json"
expect_eq "mode" "$(stat -c %a "$file")" 600
check_profile "$file"
# In containers pids come back: two runs, each in a pid namespace of its own, have programs of one pid.
unshare -fp --mount-proc true 2>/dev/null || skip "no pid namespaces here: only the name was tried"
for round in 1 2; do
  unshare -fp --mount-proc "$HEAPPROF_BIN" run -q -- "$TARGETS/leaky" || fail "in a namespace: $?"
done
rm "$file"
expect_eq "profiles of one pid" "$(ls heapprof.leaky.* | wc -l)" 2
check_profile heapprof.leaky.*
