# Filters, and JSON for scripts.
made history plant_history
expect_status 0 "$HEAPPROF_BIN" history --format json --name 'render*' --device host --metric peak ci.jsonl
expect_eq "series" "$(jq -c '[.series[] | [.name, .device, .metric, .unit, .runs_count, .first, .last, .smallest, .largest]]' out.txt)" \
  '[["render-small","host","peak","bytes",30,104857600,115343360,104857600,115343360]]'
expect_eq "its verdicts" "$(jq -c '[.series[0].runs[] | select(.ok == false) | .value] | unique' out.txt)" "[115343360]"
expect_eq "its finding" "$(jq -c '.series[0].findings[0] | [.kind, .run, .before, .after, .confirmed, .commit]' out.txt)" \
  "[\"step\",20,104857600,115343360,true,\"14$(printf %038d 0)\"]"
expect_status 0 "$HEAPPROF_BIN" history --metric total --bytes ci.jsonl
expect_in out.txt "1,164,967,936 B"
