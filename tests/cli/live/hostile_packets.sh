# Hostile watchers: packets of all sizes, broken fields, a thousand connections, requests without reading answers; more
# than four are refused; the program and its profile are none the worse.
holds_live_starts
name=$(tr '\0' '\n' <"/proc/$target/environ" | sed -n 's/^HEAPPROF=[^/]*//p')
"$PYTHON" - "$name" "$target" <<'PYTHON'
import os, socket, struct, sys
name, pid = sys.argv[1], int(sys.argv[2])
def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("\0" + name)
    s.settimeout(20)
    return s
def request(magic=0x4F545048, version=2, pid=pid, ask=1, tail=b""):
    return struct.pack("<IIiIQ", magic, version, pid, ask, 0) + tail
def hear(s):
    try:
        data, fds, flags, address = socket.recv_fds(s, 4096, 1)
    except ConnectionError:
        return b""
    for fd in fds:
        os.close(fd)
    return data
def ask(packet):
    s = connect()
    s.send(packet)
    return hear(s)
def status(answer):
    return struct.unpack_from("<III", answer)[2]
for size in (1, 23, 25, 256):
    assert ask(os.urandom(size)) == b"", size
    assert ask(request(tail=os.urandom(size))) == b"", size
assert ask(request(magic=1)) == b""
assert status(ask(request(version=7))) == 4
for wrong in (0, 9, 2**32 - 1):
    assert status(ask(request(ask=wrong))) == 4, wrong
for wrong in (0, -1, 1, 2**31 - 1):
    assert status(ask(request(pid=wrong))) == 3, wrong
for i in range(1000):
    assert status(ask(request())) in (1, 4), i
# Totals and lists are told once, and hold no watcher's place.
for i in range(200):
    assert status(ask(request(ask=3))) == 1, i
    assert status(ask(request(ask=4, pid=0))) == 7, i
assert status(ask(request(ask=3, pid=1))) == 3
unheard = [connect() for i in range(100)]
for s in unheard:
    s.send(request(ask=3))
for s in unheard[:50]:
    s.close()
watchers = []
while len(watchers) < 4:
    s = connect()
    s.send(request())
    if status(hear(s)) == 1:
        watchers.append(s)
assert status(ask(request())) == 4
# Whoever asks again before it has read is left.
watchers[0].send(request())
for i in range(1000):
    try:
        watchers[0].send(request())
    except OSError:
        break
heard = 0
while hear(watchers[0]):
    heard += 1
assert heard < 10, heard
# Rubbish on a connection that was good ends it; the others go on.
watchers[1].send(os.urandom(24))
assert hear(watchers[1]) == b""
watchers[2].send(request())
assert status(hear(watchers[2])) == 1
# Names that nobody reads, and whose asker goes.
for i in range(50):
    s = connect()
    s.send(request(ask=2))
    s.close()
# One that only stays connected is left as it is.
PYTHON
expect_status 0 "$HEAPPROF_BIN" top --once --interval 250ms --format json "$target"
expect_eq "numbers" "$(jq -c '.devices[0] | [.live_bytes, .live_blocks_count]' out.txt)" "[$((7 * 1235)),7]"
holds_live_ends
expect_eq "the final profile" "$(numbers final.json)" "[$((7 * 1235 + 3 * 1237 + 1239)),$((3 * 1235 + 1239)),4,$((7 * 1235 + 1237))]"
expect_eq "its end" "$(jq -c '.heapprof.run | [.end, .status, .complete]' final.json)" '["exited",0,true]'
