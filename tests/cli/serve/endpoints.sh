# heapprof serve PID: every path answers, with the numbers of a snapshot of a program that holds still; by its pid and
# by heapprof's; it ends with the program.
mkdir temporary
export TMPDIR=$PWD/temporary  # of no other test
holds_live_starts
serves "$target"
expect_in served.txt "next    go tool pprof $url/debug/pprof/heap"
expect_status 0 "$HEAPPROF_BIN" snapshot -q -o now.json "$target"

gets 200 /profile.json
expect_in head.txt "Content-Type: application/json"
expect_eq "numbers of /profile.json" "$(numbers body.txt)" "$(numbers now.json)"

gets 200 /metrics
expect_in head.txt "Content-Type: text/plain; version=0.0.4"
for line in "live_bytes{pid=\"$target\",command=\"holds_live\",device=\"host\"} $((7 * 1235))" \
  "live_blocks{pid=\"$target\",command=\"holds_live\",device=\"host\"} 7" \
  "peak_bytes{pid=\"$target\",command=\"holds_live\",device=\"host\"} $((7 * 1235 + 1237))" \
  "allocations_total{pid=\"$target\",command=\"holds_live\",device=\"host\"} 10" \
  "allocated_bytes_total{pid=\"$target\",command=\"holds_live\",device=\"host\"} $((7 * 1235 + 3 * 1237))" \
  "temporary_allocations_total{pid=\"$target\",command=\"holds_live\",device=\"host\"} 3" \
  "events_lost_total{pid=\"$target\",command=\"holds_live\"} 0" \
  "collector_up{pid=\"$target\",command=\"holds_live\"} 1"; do
  expect_in body.txt "heapprof_$line"
done
grep -qE "^heapprof_resident_bytes\{pid=\"$target\",command=\"holds_live\"\} [1-9][0-9]+$" body.txt || fail "no resident memory"

for thing in heap allocs; do
  gets 200 /debug/pprof/$thing
  expect_in head.txt "Content-Type: application/octet-stream"
  expect_in head.txt "Content-Disposition: attachment; filename=\"$thing\""
  expect_in head.txt "X-Content-Type-Options: nosniff"
  gzip -t <body.txt || fail "$thing is not gzip'd"
done

gets 200 '/debug/pprof/heap?debug=1'
expect_eq "sums of the text" "$(head -n 1 body.txt)" \
  "heap profile: 7: $((7 * 1235)) [10: $((7 * 1235 + 3 * 1237))] @ heapprofile"
expect_in body.txt "	hold()	"
expect_in body.txt "# device=host pid=$target command=holds_live"

gets 200 /debug/pprof/
expect_in body.txt "<td>$target holds_live</td>"
gets 200 /
gets 200 "/pid/$target/debug/pprof/heap"
gets 200 "/pid/$target/"
gets 200 /debug/pprof/cmdline
expect_eq "the command line" "$(cat body.txt)" "$TARGETS/holds_live"
gets 200 /metrics -I
[ ! -s body.txt ] || expect_not_in body.txt heapprof_live_bytes

kill -TERM $serve
status=0
wait $serve || status=$?
expect_eq "the end by a signal" $status 143
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'heapprof-serve-*' -newer go)" ] || fail "a folder is left behind"

serves "$run"
gets 200 "/pid/$target/profile.json"
expect_eq "asked by heapprof's pid" "$(numbers body.txt)" "$(numbers now.json)"
holds_live_ends
status=0
wait $serve || status=$?
expect_eq "the end with the program" $status 0
expect_in served.txt "the processes have ended"
expect_eq "the final profile" "$(numbers final.json)" "[$((7 * 1235 + 3 * 1237 + 1239)),$((3 * 1235 + 1239)),4,$((7 * 1235 + 1237))]"
