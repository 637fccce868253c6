// tests/targets/stacks/distinct_stacks.cc: 2^LEVELS stacks, each allocates once: left and right calls at every level.
//
// usage: distinct_stacks LEVELS
#include "../keep.h"

static void walk(unsigned level);
KEEP_FRAME void go_left(unsigned level) { walk(level), keep(nullptr); }
KEEP_FRAME void go_right(unsigned level) { walk(level), keep(nullptr); }

KEEP_FRAME void walk(unsigned level) {
  if (level == 0) {
    keep(malloc(1235));
    return;
  }
  go_left(level - 1);
  go_right(level - 1);
  keep(nullptr);
}

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  walk(static_cast<unsigned>(atoi(argv[1])));
  return 0;
}
