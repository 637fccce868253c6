// tests/targets/processes/forks_at_once.cc: COUNT children wait until all are there, then allocate at once, 5 blocks of
// 1237 bytes each, four of which stay, and end when all have.
//
// usage: forks_at_once COUNT
#include "../keep.h"

#include <sys/wait.h>
#include <unistd.h>

KEEP_FRAME void allocate_in_child() {
  for (int i = 0; i < 4; ++i) keep(malloc(1237));
  free(keep(malloc(1237)));
}

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  int gate[2];
  int exit_gate[2];
  int words[2];
  if (pipe(gate) != 0 || pipe(exit_gate) != 0 || pipe(words) != 0) return 97;
  const int count = atoi(argv[1]);
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child < 0) return 96;
    if (child != 0) continue;
    close(gate[1]);
    close(exit_gate[1]);
    char byte = 0;
    if (read(gate[0], &byte, 1) != 0) _exit(1);  // the end of the pipe, for all of them at one moment
    allocate_in_child();
    if (write(words[1], &byte, 1) != 1 || read(exit_gate[0], &byte, 1) != 0) _exit(2);
    _exit(0);
  }
  close(gate[1]);
  char byte;
  for (int i = 0; i < count; ++i) {
    if (read(words[0], &byte, 1) != 1) return 95;
  }
  close(exit_gate[1]);
  int failed = 0;
  for (int status = 0; wait(&status) > 0;) failed += status != 0 ? 1 : 0;
  return failed == 0 ? 0 : 1;
}
