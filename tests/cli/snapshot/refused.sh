# What cannot be had is said, and no file is written.
holds_live_starts
expect_status 0 "$HEAPPROF_BIN" snapshot "$target"
expect_in err.txt "saved  heapprof.holds_live.$target.snapshot.json"
expect_eq "mode" "$(stat -c %a "heapprof.holds_live.$target.snapshot.json")" 600
expect_status 1 "$HEAPPROF_BIN" snapshot -o no.json 999999999
expect_in err.txt "there is no process 999999999 [HP087]"
expect_status 1 "$HEAPPROF_BIN" snapshot -o no.json $$
expect_in err.txt "process $$ is not being profiled [HP088]"
expect_status 1 "$HEAPPROF_BIN" snapshot -o /nonexistent/no.json "$target"
expect_in err.txt "no snapshot of process $target: /nonexistent/no.json cannot be written: no such file or directory"
expect_status 2 "$HEAPPROF_BIN" snapshot
expect_in err.txt "[HP091]"
expect_status 2 "$HEAPPROF_BIN" snapshot me
expect_in err.txt "PID takes the number of a process, not 'me' [HP052]"
[ ! -e no.json ] || fail "a file was written in spite of an error"
holds_live_ends
