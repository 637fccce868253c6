# heapprof snapshot: a whole profile of a program that runs on; its own profile is none the worse for it.
export LC_ALL=C.UTF-8
mkfifo go said
"$HEAPPROF_BIN" run -q -o final.json "$TARGETS/holds_live" <go >said &
run=$!
exec 8>go 9<said
read -r word <&9
expect_eq "the program" "$word" held
target=$(pgrep -P "$run" -x holds_live)

# By the program's pid, by heapprof's own, and two at once. All have the same numbers.
numbers() { jq -c '[([.pps[].tb] | add), ([.pps[].eb] | add), ([.pps[].ebk] | add), ([.pps[].gb] | add)]' "$1"; }
expect_status 0 "$HEAPPROF_BIN" snapshot -o now.json "$target"
expect_in err.txt "process $target runs on: 8.44 KiB live, peak so far"
expect_in err.txt "next   heapprof report now.json"
expect_eq "blocks of a snapshot" "$(numbers now.json)" "[$((7 * 1235 + 3 * 1237)),$((7 * 1235)),7,$((7 * 1235 + 1237))]"
expect_eq "its end" "$(jq -c '.heapprof.run | [.end, .complete, .pid]' now.json)" "[\"running\",true,$target]"
expect_status 0 "$HEAPPROF_BIN" snapshot -q -o run.json "$run"
expect_eq "words of -q" "$(cat err.txt)" ""
expect_eq "asked by heapprof's pid" "$(numbers run.json)" "$(numbers now.json)"
for i in 1 2 3; do
  "$HEAPPROF_BIN" snapshot -q -o "at_once_$i.json" "$target" 2>"words_$i.txt" &
  asked[$i]=$!
done
written=0
for i in 1 2 3; do
  if wait "${asked[$i]}"; then
    written=$((written + 1))
    expect_eq "one of several" "$(numbers at_once_$i.json)" "$(numbers now.json)"
  else
    expect_in "words_$i.txt" "no snapshot of process $target: another snapshot of it is being taken [HP089]"
  fi
done
[ $written -ge 1 ] || fail "of three at once none was written"

# The report, names of our choice, the file's mode.
expect_status 0 "$HEAPPROF_BIN" report now.json
expect_in out.txt "running (snapshot)"
expect_status 0 "$HEAPPROF_BIN" snapshot "$target"
expect_in err.txt "saved  heapprof.holds_live.$target.snapshot.json"
expect_eq "mode" "$(stat -c %a "heapprof.holds_live.$target.snapshot.json")" 600

# What cannot be had is said.
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

# Hostile packets on the socket: of all sizes, and requests with broken fields.
name=$(tr '\0' '\n' <"/proc/$target/environ" | sed -n 's/^HEAPPROF=[^/]*//p')
python3 - "$name" "$target" <<'PYTHON'
import os, socket, struct, sys
name, pid = sys.argv[1], int(sys.argv[2])
def ask(packet):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("\0" + name)
    s.send(packet)
    s.settimeout(20)
    try:
        return s.recv(8192)
    except ConnectionError:
        return b""
def request(magic=0x53505048, version=2, pid=pid, path=b"/dev/null/x", tail=b""):
    return (struct.pack("<IIiI", magic, version, pid, 1) + path + tail).ljust(4112, b"\0")
for size in (1, 16, 608, 4111, 4113, 20000):
    ask(os.urandom(size))
assert ask(request(magic=1)) == b""
for packet in (request(version=7), request(path=b"relative"), request(path=b""), request(path=b"/" * 4096)):
    assert struct.unpack_from("<IIII", ask(packet))[2] == 4, packet[:40]
for wrong in (0, -1, 1, 2**31 - 1):
    assert struct.unpack_from("<IIII", ask(request(pid=wrong)))[2] == 3, wrong
PYTHON

# The program goes on, and what it wrote at its end is exact.
echo go >&8
status=0
wait $run || status=$?
expect_eq "the program's end" $status 0
expect_eq "the final profile" "$(numbers final.json)" "[$((7 * 1235 + 3 * 1237 + 1239)),$((3 * 1235 + 1239)),4,$((7 * 1235 + 1237))]"
expect_eq "its end" "$(jq -c '.heapprof.run | [.end, .status, .complete]' final.json)" '["exited",0,true]'
expect_status 1 "$HEAPPROF_BIN" snapshot "$target"
expect_in err.txt "[HP087]"
