# Hostile packets on the socket: of all sizes, and requests with broken fields; the program and its profile are none the
# worse.
holds_live_starts
name=$(tr '\0' '\n' <"/proc/$target/environ" | sed -n 's/^HEAPPROF=[^/]*//p')
"$PYTHON" - "$name" "$target" <<'PYTHON'
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
holds_live_ends
expect_eq "the final profile" "$(numbers final.json)" "[$((7 * 1235 + 3 * 1237 + 1239)),$((3 * 1235 + 1239)),4,$((7 * 1235 + 1237))]"
expect_eq "its end" "$(jq -c '.heapprof.run | [.end, .status, .complete]' final.json)" '["exited",0,true]'
