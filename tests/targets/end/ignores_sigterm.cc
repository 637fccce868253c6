// tests/targets/end/ignores_sigterm.cc: ignores SIGTERM (argument: ignore), or blocks it (block), allocates 7 blocks,
// says "go", and goes on when its input ends.
#include "../keep.h"

#include <signal.h>
#include <unistd.h>

KEEP_FRAME void allocate_before() { keep(malloc(1235)); }
KEEP_FRAME void allocate_after() { keep(malloc(1237)); }

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == 'i') signal(SIGTERM, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  if (argc > 1 && argv[1][0] == 'b') sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  for (int i = 0; i < 7; ++i) allocate_before();
  (void)!write(1, "go\n", 3);
  char byte;
  while (read(0, &byte, 1) > 0) continue;
  for (int i = 0; i < 5; ++i) allocate_after();
  (void)!write(1, "done\n", 5);
  return 11;
}
