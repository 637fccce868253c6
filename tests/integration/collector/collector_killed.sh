# heapprof is killed with SIGKILL: the program goes on, unharmed and without waiting for it.
mkfifo words
"$HEAPPROF_BIN" run -o profile.json -- "$TARGETS/runs_on" 20000000 >words 2>err.txt &
cli=$!
exec 3<words
read -r word <&3
expect_eq "the target's word" "$word" go
target=$(pgrep -o -P $cli)
kill -9 $cli
wait $cli 2>/dev/null || true
started=$SECONDS
read -r -t 60 word <&3 || fail "the target did not go on"
expect_eq "the target's word" "$word" done
[ $((SECONDS - started)) -lt 30 ] || fail "the target took $((SECONDS - started)) s after its collector had died"
for _ in $(seq 50); do [ -d "/proc/$target" ] || break; sleep 0.1; done
[ ! -d "/proc/$target" ] || fail "the target still runs"
[ ! -f profile.json ] || fail "there is a profile, although nobody could write it"
