# A line of history for each device that was judged, with the verdict; none for what cannot be judged.
with_leaky_profile p.json
cp "$TARGETS/exit_code" .
expect_status 0 check --max-leaked 1MiB --history ci.jsonl --commit c0ffee p.json
expect_status 1 check --max-leaked 0B --history ci.jsonl --commit beef p.json
expect_status 4 check --max-peak 1GiB --history ci.jsonl -- ./exit_code 7
expect_eq "history" "$(jq -r '[.commit, .name, .device, .ok, .leaked_bytes] | map(tostring) | join(" ")' ci.jsonl | tr '\n' ';')" \
  "c0ffee leaky host true 6175;beef leaky host false 6175;"
"$HEAPPROF_BIN" history --color never ci.jsonl >history.txt || fail "the history cannot be read"
expect_in history.txt "leaky  host  2 runs"
