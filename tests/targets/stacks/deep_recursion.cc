// tests/targets/stacks/deep_recursion.cc: allocates at the bottom of a recursion, and at each thousandth level on the
// way back.
//
// usage: deep_recursion LEVELS [each]
// each: allocates at each level on the way down, too, as who copies a list does.
#include "../keep.h"

#include <pthread.h>

KEEP_FRAME void descend(unsigned level) {
  if (level > 0) descend(level - 1);
  if (level % 1000 == 0) keep(malloc(1235 + level));
  asm volatile("" ::: "memory");
}

KEEP_FRAME void copy_list(unsigned level) {
  keep(malloc(24));
  if (level > 0) copy_list(level - 1);
  asm volatile("" ::: "memory");
}

int main(int argc, char** argv) {
  if (argc < 2) return 98;
  if (argc > 2) copy_list(static_cast<unsigned>(atoi(argv[1])));
  descend(static_cast<unsigned>(atoi(argv[1])));
  return 0;
}
