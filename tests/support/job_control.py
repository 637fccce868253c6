# tests/support/job_control.py HEAPPROF: an interactive shell on a terminal of its own, and jobs in it under heapprof.
import os
import pty
import re
import select
import signal
import sys
import time

PATIENCE_S = 30


class Shell:
    def __init__(self):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            for ignored in (signal.SIGINT, signal.SIGQUIT):  # as in a job in the background
                signal.signal(ignored, signal.SIG_DFL)
            os.environ.update(PS1="PROMPT> ", HISTFILE="", TERM="dumb")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.seen = b""
        self.expect("PROMPT> ")

    def type(self, text):
        self.seen = b""
        os.write(self.terminal, text.encode())

    def expect(self, pattern):
        end = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern.encode(), self.seen)):
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready:
                sys.exit(f"FAIL: no {pattern!r} in {self.seen.decode(errors='replace')!r}")
            self.seen += os.read(self.terminal, 65536)
        self.seen = self.seen[found.end():]
        return found.group()

    # A command, and what it prints before the next prompt. The echo of what is typed has its quotes still.
    def run(self, command, pattern):
        self.type(command + "\n")
        self.expect(pattern)


def main(heapprof):
    shell = Shell()
    run = f"{heapprof} run -q -o"

    # Ctrl-Z gives the terminal back, fg goes on, Ctrl-C reaches the program as often as it is typed.
    shell.type(f"{run} one.json -- python3 -q -i -c 'kept = [bytearray(1235) for _ in range(3)]'\n")
    shell.expect(">>> ")
    shell.type("\x1a")
    shell.expect("Stopped")
    shell.run("echo shell$((1 + 1))", "shell2")
    shell.run("fg", "run -q")
    shell.run("print(len(kept) + 4)", "7\r\n>>> ")
    for _ in range(3):
        time.sleep(0.3)  # a key between its prompt and its waiting is seen with the next one only
        shell.type("\x03")
        shell.expect("KeyboardInterrupt")
        shell.expect(">>> ")
    shell.type("\x1a")
    shell.expect("Stopped")
    # Continued in the background it reads, and is stopped once more where fg comes in between, as without us.
    shell.run("kill -CONT %1; fg", "run -q")
    shell.type("print(len(kept) + 5)\n")
    while b"Stopped" in shell.expect("8\r\n|Stopped"):
        shell.run("fg", "run -q")
        shell.type("\nprint(len(kept) + 5)\n")
    shell.run("exit(5)", "PROMPT> ")
    shell.run("echo status=$?", "status=5")

    # A job in the background that reads the terminal is stopped, and reads on in the foreground.
    shell.run(f"{run} two.json -- cat &", "PROMPT> ")
    shell.run("wait -n %1; jobs", "Stopped .*tty input.*cat|Stopped.*cat")
    shell.run("fg", "cat")
    shell.run("hello", "hello\r\nhello")
    shell.type("\x04")
    shell.expect("PROMPT> ")

    # An interactive shell has job control of its own, and may stop itself.
    shell.run(f"PS1='IN''NER> ' {run} three.json -- bash --norc --noprofile -i", "INNER> ")
    shell.run("sh -c 'echo up$((1 + 1)); exec sleep 77'", "up2")
    shell.type("\x1a")
    shell.expect("Stopped")
    shell.run("kill %1; suspend", "Stopped.*three.json")
    shell.run("fg", "three.json")
    shell.run("echo inner$((2 + 2))", "inner4")
    shell.run("exit 3", "PROMPT> ")
    shell.run("echo status=$?", "status=3")

    # A program that is stopped and continued past heapprof does not lose it; nor does one that is killed while stopped.
    shell.run(f"{run} four.json -- sh -c 'kill -STOP $$; exit 4'", "Stopped")
    shell.run("set -b; kill -CONT $(pgrep -P $(jobs -p))", "Exit 4")
    shell.run(f"{run} five.json -- sh -c 'kill -STOP $$; exit 4'", "Stopped")
    shell.run("kill -KILL $(pgrep -P $(jobs -p) -x sh)", "Exit 137|Killed")

    # A program that makes itself the leader of its group, as timeout does, keeps the terminal, stops and goes on.
    shell.type(f"{run} six.json -- timeout 60 python3 -q -i\n")
    shell.expect(">>> ")
    shell.run("print(3 + 4)", "7")
    shell.type("\x1a")
    shell.expect("Stopped")
    shell.run("fg", "six.json")
    shell.run("print(4 + 4)", "8")
    shell.run("exit(6)", "PROMPT> ")
    shell.run("echo status=$?", "status=6")
    with open("own_group.py", "w") as file:
        file.write("import os\nos.setpgid(0, 0)\nprint(input('ask> '))\n")
    shell.run(f"{run} seven.json -- python3 own_group.py", "ask> ")
    shell.run("own", "own\r\nown")
    shell.expect("PROMPT> ")

    # What is beside it in a pipeline has the terminal, as it would without heapprof. Ctrl-C reaches both.
    with open("beside.py", "w") as file:
        file.write("print('ask> ')\nprint(open('/dev/tty').readline())\ninput()\n")
    shell.run(f"{run} eight.json -- timeout 60 sh -c 'echo; exec sleep 55' | (read x; python3 -u beside.py)", "ask> ")
    shell.run("beside", "beside\r\n(\r\n)?beside")
    shell.type("\x03")
    shell.expect("PROMPT> ")
    shell.type("exit\n")
    os.waitpid(shell.pid, 0)


# As `ssh -t HOST heapprof run …` does: heapprof leads the session, the kernel tells it alone that the terminal is gone.
def hang_up(heapprof):
    program = """import os, signal, sys
signal.signal(signal.SIGALRM, lambda *_: None)  # a program that gets other signals all the time
def hangup(*_):
    open("hangups", "a").write("hangup\\n")
signal.signal(signal.SIGHUP, hangup)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
print("ready", flush=True)
while not os.path.exists("hangups"): signal.pause()
for _ in range(8): signal.pause()
os._exit(0)
"""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(heapprof, [heapprof, "run", "-q", "-o", "nine.json", "--", "python3", "-c", program])
    seen = b""
    while b"ready\r\n" not in seen:
        seen += os.read(terminal, 4096)
    os.close(terminal)
    end = time.monotonic() + PATIENCE_S
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        if time.monotonic() > end:
            os.kill(pid, 9)
            sys.exit("FAIL: a hangup did not reach the program")
        time.sleep(0.02)
    said = open("hangups").read()
    if said != "hangup\n":
        sys.exit(f"FAIL: the program was told of the hangup so: {said!r}")


main(sys.argv[1])
hang_up(sys.argv[1])
