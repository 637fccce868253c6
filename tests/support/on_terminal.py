# tests/support/on_terminal.py: runs a command on a terminal of its own, whose size is known.
# usage: on_terminal.py COLUMNS FILE COMMAND…
# All that the terminal would get goes to FILE, byte for byte but for the line discipline's \r before \n; the exit
# status is the command's. With SHOWN_SO_FAR=FILE in the environment that file has it as it comes.
import fcntl
import os
import pty
import struct
import sys
import termios

columns, path, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
so_far = os.environ.pop("SHOWN_SO_FAR", None)
shown = open(so_far, "wb", buffering=0) if so_far else None
ready, go = os.pipe()
pid, terminal = pty.fork()
if pid == 0:
    os.close(go)
    os.read(ready, 1)  # until the terminal has its size
    os.close(ready)
    os.environ.pop("COLUMNS", None)
    os.environ["TERM"] = os.environ.get("TERM_OF_TEST", "xterm")
    os.execvp(command[0], command)
os.close(ready)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
os.close(go)
said = b""
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:  # EIO: nobody has it open any more
        break
    if not part:
        break
    said += part
    if shown:
        shown.write(part)
with open(path, "wb") as file:
    file.write(said.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
