# While the program runs it alone holds what heapprof inherited: what it closes is closed for the other end, at once. An
# output that leads to an inherited descriptor is still written.
cat >let_go.py <<'P'
import fcntl, os, subprocess, sys, time

def run(options, script, **more):
    command = [os.environ["HEAPPROF_BIN"], "run", "-q", "-o", "profile.json", *options, "--", "sh", "-c", script]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, **more)

# Each program goes on until a word comes from here, which comes when its descriptor has been closed: a descriptor that
# is held elsewhere is a deadlock, which the alarm ends.
import signal
signal.alarm(60)
go_read, go_write = os.pipe()
os.set_inheritable(go_read, True)
wait = "read word <&%d" % go_read

def goes_on(program, what):
    if program.poll() is not None: sys.exit(what + ": the program has ended by itself")
    os.write(go_write, b"go\n")
    if program.wait() != 0: sys.exit(what + ": exit status %d" % program.returncode)

program = run([], "exec >&-; " + wait, stdout=subprocess.PIPE, pass_fds=[go_read])
program.stdout.read()
goes_on(program, "standard output")

program = run([], "exec <&-; " + wait, stdin=subprocess.PIPE, pass_fds=[go_read])
try:
    while True:
        os.write(program.stdin.fileno(), b"x")
        time.sleep(0.01)
except BrokenPipeError:
    pass
goes_on(program, "standard input")

read, write = os.pipe()
program = run([], "exec %d>&-; %s" % (9, wait), pass_fds=[go_read], preexec_fn=lambda: os.dup2(write, 9, True), close_fds=False)
os.close(write)
os.read(read, 1)
goes_on(program, "a pipe")

lock = os.open("lock", os.O_CREAT | os.O_RDWR)
fcntl.flock(lock, fcntl.LOCK_EX)
program = run([], "exec 9>&-; " + wait, pass_fds=[go_read], preexec_fn=lambda: os.dup2(lock, 9, True), close_fds=False)
os.close(lock)
fcntl.flock(os.open("lock", os.O_RDWR), fcntl.LOCK_EX)
goes_on(program, "flock")

# --child-output, too: to a pipe.
os.mkfifo("pipe")
program = run(["--child-output", "pipe"], "exec >&- 2>&-; " + wait, pass_fds=[go_read])
open("pipe").read()
goes_on(program, "--child-output")

# A record lock is heapprof's, as it would be the program's: it stays until the end.
child = os.fork()
if child == 0:
    lock = os.open("lock2", os.O_CREAT | os.O_RDWR)
    fcntl.lockf(lock, fcntl.LOCK_EX)
    os.set_inheritable(lock, True)
    os.execv(os.environ["HEAPPROF_BIN"], ["heapprof", "run", "-q", "-o", "profile.json", "--", "sh", "-c", "echo >runs; " + wait])
while not os.path.exists("runs"): time.sleep(0.01)
time.sleep(0.2)
try:
    fcntl.lockf(os.open("lock2", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
    sys.exit("the record lock is gone")
except BlockingIOError:
    os.write(go_write, b"go\n")
os.waitpid(child, 0)
P
HEAPPROF_BIN=$HEAPPROF_BIN "$PYTHON" let_go.py || fail "see above"

# What heapprof writes to by a descriptor it keeps: its own output, bash's process substitution, a link.
"$HEAPPROF_BIN" run -q -o /dev/stdout -- "$TARGETS/leaky" >out.json 2>err.txt || fail "-o /dev/stdout"
check_profile out.json
"$HEAPPROF_BIN" run -q -o /dev/stdout -- "$TARGETS/leaky" 2>err.txt | cat >piped.json
check_profile piped.json
"$HEAPPROF_BIN" run -q -o >(cat >substituted.json; echo done >substituted) -- "$TARGETS/leaky" 2>err.txt || fail "-o >(…)"
wait_for 60 "the end of the substitution" test -e substituted
check_profile substituted.json
ln -s /dev/fd/7 link
"$HEAPPROF_BIN" run -q -o profile.json --html link -- "$TARGETS/leaky" 7>page.html 2>err.txt || fail "--html to a descriptor"
grep -q '<html' page.html || fail "no page in what descriptor 7 leads to"
