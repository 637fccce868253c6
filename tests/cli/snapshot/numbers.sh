# heapprof snapshot: a whole profile of a program that runs on, by its pid and by heapprof's own; its own profile is
# none the worse for it.
holds_live_starts
expect_status 0 "$HEAPPROF_BIN" snapshot -o now.json "$target"
expect_in err.txt "process $target runs on: 8.44 KiB live, peak so far"
expect_in err.txt "next   heapprof report now.json"
expect_eq "blocks of a snapshot" "$(numbers now.json)" "[$((7 * 1235 + 3 * 1237)),$((7 * 1235)),7,$((7 * 1235 + 1237))]"
expect_eq "its end" "$(jq -c '.heapprof.run | [.end, .complete, .pid]' now.json)" "[\"running\",true,$target]"
expect_status 0 "$HEAPPROF_BIN" snapshot -q -o run.json "$run"
expect_eq "words of -q" "$(cat err.txt)" ""
expect_eq "asked by heapprof's pid" "$(numbers run.json)" "$(numbers now.json)"
expect_status 0 "$HEAPPROF_BIN" report now.json
expect_in out.txt "running (snapshot)"
holds_live_ends
expect_eq "the final profile" "$(numbers final.json)" "[$((7 * 1235 + 3 * 1237 + 1239)),$((3 * 1235 + 1239)),4,$((7 * 1235 + 1237))]"
expect_eq "its end" "$(jq -c '.heapprof.run | [.end, .status, .complete]' final.json)" '["exited",0,true]'
expect_status 1 "$HEAPPROF_BIN" snapshot "$target"
expect_in err.txt "[HP087]"
