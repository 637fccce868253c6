# heapprof is killed with SIGKILL: the program goes on, unharmed and without waiting for it.
mkfifo words
"$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/runs_on" 20000000 >words 2>err.txt &
cli=$!
exec 3<words
read -r -t 60 word <&3
expect_eq "the target's word" "$word" go
target=$(pgrep -o -P $cli)
kill -9 $cli
wait $cli 2>/dev/null || true
read -r -t 60 word <&3 || fail "the target did not go on"
expect_eq "the target's word" "$word" done
wait_for 60 "the end of the target" is_over "$target"
# On a slow machine the run is long enough to have had a checkpoint; nothing else can be there.
if [ -f profile.json ]; then
  expect_status 0 "$HEAPPROF_BIN" report profile.json
  expect_in out.txt "the program was running"
fi
