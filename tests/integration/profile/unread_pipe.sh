# A pipe at the profile's path is waited for, like a shell's; a signal ends that, and no signal ends anything else.
ends_by() {  # SIGNAL: of $cli, which waits, or will in a moment: until then what is sent is too late for the program
  for _ in $(seq 40); do
    kill -"$1" $cli 2>/dev/null || break
    for _ in $(seq 10); do kill -0 $cli 2>/dev/null || break 2; sleep 0.05; done
  done
  kill -0 $cli 2>/dev/null && { kill -9 $cli; fail "SIG$1 did not end heapprof"; }
  wait $cli || true
}
has_ended() { [ -e "$1" ] && [ -z "$(pgrep -P $cli)" ]; }  # FILE, which the program makes

mkfifo profile.pipe
for signal in TERM HUP; do
  "$HEAPPROF_BIN" run -q -o profile.pipe -- touch "began.$signal" &
  cli=$!
  wait_for 60 "the program's end" has_ended "began.$signal"
  ends_by $signal
done
"$HEAPPROF_BIN" run -q -o late.json -- sh -c 'mkfifo late.json' &
cli=$!
wait_for 60 "the program's end" has_ended late.json
ends_by TERM

# A reader gets all of it, and so does one that came before.
cat profile.pipe >got.json &
expect_status 3 "$HEAPPROF_BIN" run -q -o profile.pipe -- sh -c 'exit 3'
wait
check_profile got.json

# A folder that is gone, or in the way, is said.
mkdir gone
expect_status 125 "$HEAPPROF_BIN" run -q -o gone/p.json -- sh -c 'rm -r gone; exit 3'
expect_in err.txt "gone/p.json"
expect_status 125 "$HEAPPROF_BIN" run -q -o p.json -- sh -c 'mkdir p.json; exit 3'
