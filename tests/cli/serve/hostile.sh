# Slow, broken and hostile clients: the server answers others meanwhile, holds no more connections than it says, lets go
# of slow ones, and the program and its profile are none the worse.
obeys_starts
obeys grow
serves "$target"
gets 200 /metrics
"$PYTHON" - "${url##*:}" "$serve" <<'PYTHON'
import os, random, socket, sys, threading, time
port, server = int(sys.argv[1]), int(sys.argv[2])
def connect(timeout=20):
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(timeout)
    return s
def hear(s):
    data = b""
    try:
        while True:
            part = s.recv(65536)
            if not part:
                return data
            data += part
    except (ConnectionError, socket.timeout):
        return data
def ask(data):
    s = connect()
    try:
        s.sendall(data)
    except ConnectionError:
        pass
    return hear(s)
def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0
def get(path, head=b""):
    return b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + head + b"\r\n"
# Clients that went without a word may have their places for a moment longer: then others are sent away.
def is_alive():
    end = time.monotonic() + 20
    answer = ask(get(b"/metrics"))
    while answer == b"" and time.monotonic() < end:
        time.sleep(0.2)
        answer = ask(get(b"/metrics"))
    assert status(answer) == 200, answer[:200]
def open_files():
    return len(os.listdir(f"/proc/{server}/fd"))
is_alive()
open_at_first = open_files()
# Broken requests: refused, or the connection is closed.
rng = random.Random(4711)
for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics\r\n\r\n", b"GET /metrics HTTP/9.9\r\nHost: a\r\n\r\n", b"\0" * 100,
             b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
             b"GET http://127.0.0.1/metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n",
             get(b"/metrics", b"Host: evil.example\r\n"), get(b"/metrics", b"Content-Length: -1\r\n"),
             get(b"/metrics", b"Content-Length: 99999999999999999999\r\n"), get(b"/metrics", b"Transfer-Encoding: chunked\r\n"),
             get(b"/metrics", b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + b"0\r\n\r\nGET /profile.json HTTP/1.1\r\n\r\n",
             get(b"/" + b"a" * 100000), get(b"/metrics", b"X: " + b"a" * 100000 + b"\r\n"), get(b"/metrics", b"".join(b"X%d: 1\r\n" % i for i in range(5000))),
             get(b"/debug/pprof/heap?" + b"&".join(b"a%d=1" % i for i in range(500))), get(b"/debug/pprof/heap?seconds=1%00"),
             get(b"/debug/pprof/heap?pid=%ff%fe"), get(b"/%2e%2e/%2e%2e/etc/passwd"), get(b"//etc/passwd"), get(b"/metrics%00.html?x"),
             get(b"/pid/%0d%0aX: y/metrics"), get(b"/debug/pprof/heap?device=%0d%0aX-Bad:%20yes")):
    answer = ask(data)
    assert status(answer) != 200 and b"X-Bad" not in answer.split(b"\r\n\r\n")[0], (data[:80], answer[:200])
for _ in range(100):
    s = connect()
    s.sendall(os.urandom(rng.randrange(1, 3000)))
    s.close()
is_alive()
# A pipelined second request gets no answer: a connection has one.
assert ask(get(b"/metrics") * 3).count(b"HTTP/1.1 200") == 1
# As many connections as there are, that say nothing, or a byte at times. Those of one address leave some to others, and
# are gone after ten seconds.
begin = time.monotonic()
silent = [connect(60) for _ in range(24)]
slow = [connect(60) for _ in range(24)]
def drip():
    while time.monotonic() - begin < 120:
        for s in slow:
            try:
                s.sendall(b"G")
            except OSError:
                pass
        time.sleep(0.5)
dripping = threading.Thread(target=drip, daemon=True)
dripping.start()
extra = connect(5)  # one more than an address may have: it is sent away
extra.sendall(get(b"/metrics"))
assert status(hear(extra)) == 0
for s in silent + slow:
    assert status(hear(s)) in (0, 400, 408)
assert time.monotonic() - begin < 100  # while the slow ones drip on
is_alive()
# Clients that ask and go, while the answer is made; and ones that do not read it.
for path in (b"/debug/pprof/heap", b"/profile.json", b"/debug/pprof/allocs?seconds=1", b"/metrics"):
    for _ in range(10):
        s = connect()
        s.sendall(get(path))
        s.close()
unread = []
for _ in range(20):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    s.connect(("127.0.0.1", port))
    s.sendall(get(b"/profile.json"))
    unread.append(s)
is_alive()
# Descriptors do not pile up.
for s in unread: s.close()
end = time.monotonic() + 60
while open_files() > open_at_first + 2 and time.monotonic() < end: time.sleep(0.2)
assert open_files() <= open_at_first + 2, (open_files(), open_at_first)
# Many at once: each has its answer, and the same one.
answers = []
threads = [threading.Thread(target=lambda: answers.append(ask(get(b"/profile.json")))) for _ in range(20)]
for t in threads: t.start()
for t in threads: t.join()
assert all(status(a) == 200 for a in answers), [a[:60] for a in answers]
assert len({a.split(b"\r\n\r\n", 1)[1] for a in answers}) <= 3
is_alive()
PYTHON
gets 200 /metrics
# A collector that is stopped: its process is down, and the others' numbers come; a profile of it is not to be had.
kill -STOP "$run"
gets 200 /metrics
kill -CONT "$run"
until_body "heapprof_collector_up{pid=\"$target\",command=\"obeys\"} 1" /metrics
kill $serve
wait $serve || true
obeys grow
echo end >&8
wait $run
expect_eq "bytes of the profile" "$(jq '[.pps[].eb] | add' final.json)" 2000006
