# ?seconds=N: what was allocated within N seconds, and nothing of what was before; what was freed is negative.
obeys_starts
obeys grow
serves "$target"
get "/debug/pprof/heap?debug=1"
"$HEAPPROF_BIN" snapshot -q -o before.json "$target"
curl -sS -o interval.gz "$url/debug/pprof/allocs?seconds=4" &
asked=$!
sleep 1.5
obeys grow
obeys grow
wait $asked || fail "the interval was not answered"
curl -sS -o nothing.gz -D head.txt "$url/debug/pprof/allocs?seconds=1"
expect_in head.txt 'Content-Disposition: attachment; filename="allocs-delta"'
if have go; then
  export HOME=$PWD GOFLAGS=-mod=mod GOTOOLCHAIN=local
  sums() { go tool pprof -raw "$1" 2>/dev/null | sed -n '/^Samples/,/^Locations/p' | grep -E '^ *-?[0-9]+ ' | awk '{for (i = 1; i <= 4; ++i) sum[i] += $i} END {print sum[1] + 0, sum[2] + 0, sum[3] + 0, sum[4] + 0}' | tr -d :; }
  expect_eq "what the interval had" "$(sums interval.gz)" "2 2000006 2 2000006"
  expect_eq "what an interval of rest had" "$(sums nothing.gz)" "0 0 0 0"
  curl -sS -o freed.gz "$url/debug/pprof/heap?seconds=4" &
  asked=$!
  sleep 1.5
  obeys shrink
  wait $asked || fail "the interval was not answered"
  expect_eq "what was freed" "$(sums freed.gz)" "0 0 -3 -3000009"
else
  not_tried "the numbers of intervals, by Go's pprof, which is not installed"
fi
# More than eight at a time are refused, and the server goes on.
asking=
for number in 1 2 3 4 5 6 7 8; do
  for device in mapped cuda:0; do
    curl -s -o /dev/null -w '%{http_code}\n' "$url/debug/pprof/allocs?seconds=60&device=$device$number" >>codes.txt &
    asking="$asking $!"
  done
done
are_refused() { [ "$(grep -c 503 codes.txt)" -ge 8 ]; }
wait_for 50 "eight refusals" are_refused
gets 200 /metrics
expect_eq "refused intervals" "$(grep -c 503 codes.txt)" 8
kill $asking 2>/dev/null || true
kill $serve
wait $serve || true
echo end >&8
wait $run
