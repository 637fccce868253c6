// tests/targets/holds_live.cc: holds a known set of blocks at a known moment: 7 of 1235 bytes live and 3 of 1237 freed
// when it says so on stdout; after a line on stdin it frees 4 of the 7, leaks one of 1239, and ends.
#include "keep.h"

#include <stdio.h>
#include <unistd.h>

KEEP_FRAME static void* hold() { return keep(malloc(1235)); }

KEEP_FRAME static void leak_later() { keep(malloc(1239)); }

int main() {
  void* held[7];
  for (void*& block : held) block = hold();
  for (int i = 0; i < 3; ++i) free(keep(malloc(1237)));
  char line[8];
  if (write(1, "held\n", 5) != 5 || read(0, line, sizeof line) <= 0) return 98;
  for (int i = 0; i < 4; ++i) free(held[i]);
  leak_later();
  return 0;
}
