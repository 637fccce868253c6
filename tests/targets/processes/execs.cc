// tests/targets/processes/execs.cc: allocates, becomes another program, allocates again.
//
// usage: execs PROGRAM [ARGS…]      "second" as its only argument: the other program
#include "../keep.h"

#include <string.h>
#include <unistd.h>

KEEP_FRAME void allocate_first() { keep(malloc(1235)); }
KEEP_FRAME void allocate_second() { keep(malloc(1237)); }

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "second") == 0) {
    for (int i = 0; i < 4; ++i) allocate_second();
    return 3;
  }
  for (int i = 0; i < 3; ++i) allocate_first();
  if (argc < 2) return 98;
  execv(argv[1], argv + 1);
  allocate_first();  // only where exec failed
  return 4;
}
