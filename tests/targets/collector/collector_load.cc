// tests/targets/collector/collector_load.cc: gives the collector much to remember: live blocks, or stacks. Block number
// n has n % 16 + 1 bytes, so that the bytes of any first part of the run follow from its blocks.
//
// usage: collector_load blocks COUNT | stacks LEVELS      COUNT live blocks; or 2^LEVELS stacks, each allocates and
// frees
#include "../keep.h"

#include <stdio.h>
#include <string.h>

static unsigned long g_blocks;

KEEP_FRAME void* allocate() { return keep(malloc(g_blocks++ % 16 + 1)); }

static void walk(unsigned level);
KEEP_FRAME void go_left(unsigned level) { walk(level), keep(nullptr); }
KEEP_FRAME void go_right(unsigned level) { walk(level), keep(nullptr); }

KEEP_FRAME void walk(unsigned level) {
  if (level == 0) {
    free(allocate());
    return;
  }
  go_left(level - 1);
  go_right(level - 1);
  keep(nullptr);
}

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  const long count = atol(argv[2]);
  if (strcmp(argv[1], "stacks") == 0) {
    walk(static_cast<unsigned>(count));
  } else {
    for (long i = 0; i < count; ++i) allocate();
  }
  setvbuf(stdout, nullptr, _IONBF, 0);  // a buffer would be one block more
  printf("%lu\n", g_blocks);
  return 0;
}
