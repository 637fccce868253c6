# heapprof run --serve: the processes of this run alone, from the start to the end; what cannot be served ends the run
# before the program starts.
mkfifo go said
at_end() { live_ends; }
"$HEAPPROF_BIN" run --no-summary --serve 0 -o final.json "$TARGETS/obeys" <go >said 2>served.txt &
run=$!
exec 8>go 9<said
read -r word <&9
expect_eq "the program" "$word" ready
is_served
target=$(pgrep -P "$run" -x obeys)
obeys grow
until_body "heapprof_live_bytes{pid=\"$target\",command=\"obeys\",device=\"host\"}" /metrics
until_body ": 1000003 [" "/pid/$target/debug/pprof/heap?debug=1"
gets 404 "/pid/$run/profile.json"
# A key is the program's: the server stays.
server=$(pgrep -P "$run" -x heapprof | head -n 1)
[ -n "$server" ] || fail "there is no server"
kill -INT "$server"
sleep 1.1
gets 200 /metrics
echo end >&8
status=0
wait $run || status=$?
expect_eq "the run's end" $status 0
! kill -0 "$server" 2>/dev/null || fail "the server outlives the run"
expect_eq "bytes of the profile" "$(jq '[.pps[].eb] | add' final.json)" 1000003

# The run is killed: so is the server.
rm go said
mkfifo go said
"$HEAPPROF_BIN" run -q --serve 0 -o killed.json "$TARGETS/obeys" <go >said 2>/dev/null &
run=$!
exec 8>go 9<said
read -r word <&9
target=$(pgrep -P "$run" -x obeys)
server=$(pgrep -P "$run" -x heapprof | head -n 1)
kill -9 "$run"
wait $run 2>/dev/null || true
wait_for 60 "the end of a killed run's server" is_over "$server"
echo end >&8

expect_status 125 "$HEAPPROF_BIN" run --serve 0.0.0.0:0 "$TARGETS/leaky"
expect_in err.txt "[HP262]"
expect_status 125 "$HEAPPROF_BIN" run --serve nowhere "$TARGETS/leaky"
expect_in err.txt "[HP260]"
expect_status 125 "$HEAPPROF_BIN" run --token-file token "$TARGETS/leaky"
expect_in err.txt "--token-file"
expect_eq "profiles of refused runs" "$(find . -name "heapprof.leaky*")" ""
