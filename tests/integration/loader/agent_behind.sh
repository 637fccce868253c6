# The agent loaded behind libc, by dlopen: its functions hand on to libc's, and nothing is recorded, with an invitation
# or without (heapprof attach is for that).
cat >loads_agent.c <<'C'
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  void* agent = dlopen(argv[argc - 1], RTLD_NOW);
  if (agent == NULL) return 98;
  void* (*allocate)(size_t) = (void* (*)(size_t))dlsym(agent, "malloc");
  void* (*clear)(size_t, size_t) = (void* (*)(size_t, size_t))dlsym(agent, "calloc");
  void* (*again)(void*, size_t) = (void* (*)(void*, size_t))dlsym(agent, "realloc");
  void* (*align)(size_t, size_t) = (void* (*)(size_t, size_t))dlsym(agent, "memalign");
  int (*align_into)(void**, size_t, size_t) = (int (*)(void**, size_t, size_t))dlsym(agent, "posix_memalign");
  void (*release)(void*) = (void (*)(void*))dlsym(agent, "free");
  void* block = NULL;
  errno = 0;
  int failures = allocate(1235) == NULL && errno == ENOMEM;
  errno = 0;
  failures += clear(1, 1236) == NULL && errno == ENOMEM;
  failures += again(NULL, 1237) == NULL;
  failures += align(64, 1238) == NULL;
  failures += align_into(&block, 64, 1239) == ENOMEM;
  release(NULL);
  printf("%d\n", failures);
  return 0;
}
C
gcc -g -O1 -fno-builtin loads_agent.c -o loads_agent -ldl || skip "gcc is not installed"
agent=$(dirname "$HEAPPROF_BIN")/../lib/heapprof/libheapprof.so
expect_status 0 timeout 300 ./loads_agent "$agent"
expect_eq "calls that fail" "$(cat out.txt)" 0
# With an invitation, and without the agent in LD_PRELOAD: by a system call of its own, which no hook sees.
cat >bare.py <<'P'
import ctypes, os, sys
arguments = [argument.encode() for argument in sys.argv[1:]]
variables = [f"HEAPPROF={os.environ['HEAPPROF']}".encode()]
vector = lambda texts: (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
ctypes.CDLL(None).syscall(59, arguments[0], vector(arguments), vector(variables))
P
"$HEAPPROF_BIN" run -o 'profile.%n.json' -- "$PYTHON" bare.py "$PWD/loads_agent" "$agent" >out.txt 2>err.txt
expect_eq "calls that fail" "$(tail -n 1 out.txt)" 0
expect_eq "profiles" "$(ls profile.*)" "$(ls profile.python3*)"
