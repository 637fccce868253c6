# A program whose arguments and environment are as long as the kernel allows starts under heapprof, too: without being
# profiled, which is said. What is too long without heapprof stays refused.
cat >child.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  free(malloc(1235));
  puts(getenv("LD_PRELOAD") == NULL && getenv("HEAPPROF") == NULL ? "bare" : "invited");
  return 5;
}
C
gcc child.c -o child
# Tries lengths downwards until the program starts, by each function in its turn: prints the length.
cat >starts.py <<'P'
import os, subprocess, sys
how, stop = sys.argv[1], int(sys.argv[2])
page = b"x" * (100 << 10)
own = {name: value for name, value in os.environb.items() if name in (b"LD_PRELOAD", b"HEAPPROF")}
def attempt(length):
    whole, rest = divmod(length, len(page))
    arguments = [b"./child"] + [page] * whole + [b"y" * rest]
    environment = dict(own) if how.endswith("inherited") else {}
    try:
        if how.startswith("spawn"):
            return os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("./child", arguments, environment), 0)[1])
    except OSError as error:
        return error.errno
    pid = os.fork()
    if pid == 0:
        try:
            os.execve("./child", arguments, environment)
        except OSError as error:
            os._exit(100 + error.errno)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
low, high = 0, 8 << 20  # starts; does not
while high - low > 1:
    middle = (low + high) // 2
    if attempt(middle) == 5: low = middle
    else: high = middle
print(low, attempt(high))
P
for how in exec exec-inherited spawn spawn-inherited; do
  native=$(env -u LD_PRELOAD "$PYTHON" starts.py $how 0 | tail -1)
  got=$("$HEAPPROF_BIN" run -q -o p.json -- "$PYTHON" starts.py $how 0 | tail -1)
  expect_eq "the longest arguments, and what is said of longer ones ($how)" "$got" "$native"
  named=$(jq -s '[.[].heapprof.unprofiled_programs[] | select((.path | endswith("child")) and (.reason | test("no room")))] | length' p*.json)
  [ "$named" -ge 1 ] || fail "nothing is said of the program that was not entered ($how)"
  rm -f p*.json
done
