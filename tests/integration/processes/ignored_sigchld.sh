# A parent that ignores SIGCHLD hands that on; heapprof must see the end of its program all the same, with its status.
expect_status 7 timeout 300 "$PYTHON" -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], ["heapprof", "run", "-q", "-o", "profile.json", "sh", "-c", "exit 7"])' "$HEAPPROF_BIN"
expect_eq "how it ended" "$(json profile.json .heapprof.run.status)" 7
