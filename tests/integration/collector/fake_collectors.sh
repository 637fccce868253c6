# Sockets that are called as a collector's and never answer: those of other users are not spoken to, and any number of
# our own costs one wait.
cat >fakes.py <<'P'
import os, socket, sys, time
if sys.argv[1] != "own": os.setgid(65534); os.setuid(65534)
kept = []
for number in range(30):
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.bind("\0/tmp/heapprof-%012x" % (0xfa4e00000000 + number))
    one.listen(0 if number % 2 else 9)
    kept.append(one)
print("ready", flush=True)
sys.stdin.read()
P
fakes() {
  rm -f words input
  mkfifo words input
  "$PYTHON" fakes.py "$1" >words <input &
  exec 3<words 4>input
  read -r -u 3 word
}
"$HEAPPROF_BIN" run -q -o profile.json -- env -i sleep 100 &
run=$!
is_profiled() { "$HEAPPROF_BIN" snapshot -q -o first.json $run 2>/dev/null; }
wait_for 60 "the profiled sleep" is_profiled
check_profile first.json
kinds=own
[ "$(id -u)" != 0 ] || kinds="own other"
for kind in $kinds; do
  fakes $kind
  rm -f now.json
  expect_status 0 timeout 300 "$HEAPPROF_BIN" snapshot -q -o now.json $run
  check_profile now.json
  expect_status 0 timeout 300 "$HEAPPROF_BIN" mark $run there
  expect_status 0 timeout 300 "$HEAPPROF_BIN" top --once --format json $run
  expect_status 1 timeout 300 "$HEAPPROF_BIN" mark $$ there  # that is not profiled
  exec 4>&-
  wait $!
done
kill -TERM $run
wait $run || true

# A name in a program's environment that another user has taken since: its agent does not speak to that one.
[ "$(id -u)" = 0 ] || { not_tried "another user's collector: not root"; exit 0; }
fakes other
have strace || { not_tried "another user's collector: no strace"; exit 0; }
agent=$(find "$(dirname "$(dirname "$HEAPPROF_BIN")")" -name libheapprof.so | head -1)
expect_status 0 timeout 300 strace -f -e trace=sendto -o calls.txt env HEAPPROF="+/tmp/heapprof-fa4e00000000" LD_PRELOAD="$agent" true
expect_eq "packets sent" "$(grep -c sendto calls.txt || true)" 0
