# What a program is told of its own numbers is what it counted itself: alone, among 64 threads at barriers, among
# threads that go on, and by each kind of stamp.
expect_status 0 "$TARGETS/statistics" absent
asks() { expect_status 0 "$HEAPPROF_BIN" run -q -o profile.json "$@"; expect_in out.txt "as in the books"; check_profile profile.json; }
asks -- "$TARGETS/statistics" alone
expect_eq "the run's peak, with phases" "$(json profile.json '[.heapprof.devices[0].totals.peak_bytes >= 20000000, .heapprof.run.complete]|tostring')" "[true,true]"
for threads in 1 2 7 64; do asks -- "$TARGETS/statistics" threads $threads 30; done
asks -- "$TARGETS/statistics" free 4 200
asks -- "$TARGETS/statistics" free 64 20
