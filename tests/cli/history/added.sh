# --add: a record for each device; leaks that are known do not count; of other tools what they know.
expect_status 0 "$HEAPPROF_BIN" history --add --commit c0ffee new.jsonl "$small" "$foreign/valgrind_heap.json"
expect_in err.txt "added  3 entries to new.jsonl, commit c0ffee"
expect_eq "entries" "$(jq -c '[.name, .device, .commit, .peak_bytes, .leaked_bytes, .allocations_count, .temporary_count, .ok]' new.jsonl | head -n 2 | tr -d '\n')" \
  '["render","host","c0ffee",9312,1236,6,1,null]["render","cuda:0","c0ffee",1048576,1048576,1,0,null]'
expect_eq "no temporary of valgrind's" "$(tail -n 1 new.jsonl | jq -c '[has("peak_bytes"), has("temporary_count")]')" "[true,false]"
with_leaky_profile leaky.json
"$HEAPPROF_BIN" history -q --add run.jsonl leaky.json
expect_eq "leaks of a real run" "$(jq .leaked_bytes run.jsonl)" 6175
# The same run again is left out, alone or beside others; the same run under another name is not.
expect_status 0 "$HEAPPROF_BIN" history --add run.jsonl leaky.json
expect_in err.txt "left   1 entry of runs that run.jsonl has already"
expect_not_in err.txt "added"
"$HEAPPROF_BIN" run -q -o again.json "$TARGETS/leaky" >out.txt
expect_status 0 "$HEAPPROF_BIN" history --add run.jsonl leaky.json again.json
expect_in err.txt "added  1 entry to run.jsonl"
expect_in err.txt "left   1 entry"
expect_status 0 "$HEAPPROF_BIN" history --add --name other run.jsonl leaky.json
expect_eq "entries of three" "$(wc -l <run.jsonl)" 3
