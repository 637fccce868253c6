// tests/targets/leaky.cc: the smallest program with something to see: 5 blocks leaked, 4 freed. No C++ library behind
// it.
#include "keep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

KEEP_FRAME void leak_blocks() {
  for (int i = 0; i < 5; ++i) keep(malloc(1235));
}

KEEP_FRAME void free_blocks() {
  for (int i = 0; i < 4; ++i) free(keep(malloc(1237)));
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "--delete-me") == 0 && unlink(argv[0]) != 0) return 97;
  leak_blocks();
  free_blocks();
  return 0;
}
