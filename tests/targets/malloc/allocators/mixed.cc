// tests/targets/malloc/allocators/mixed.cc: ten blocks from each family, half of them freed. Compiled by
// integration/malloc/allocators.sh.
#include <stdlib.h>

#include <new>

#define FRAME __attribute__((noinline))

static void* keep(void* block) {
  asm volatile("" : "+r"(block)::"memory");
  return block;
}

FRAME void use_malloc() {
  for (int i = 0; i < 10; ++i) {
    void* block = keep(malloc(1235));
    if (i % 2 == 0) free(block);
  }
}

FRAME void use_new() {
  for (int i = 0; i < 10; ++i) {
    void* block = keep(::operator new(1237));
    if (i % 2 == 0) ::operator delete(block);
  }
}

FRAME void use_aligned() {
  for (int i = 0; i < 10; ++i) {
    void* block = nullptr;
    if (posix_memalign(&block, 64, 1239) != 0) exit(97);
    keep(block);
    if (i % 2 == 0) free(block);
  }
}

int main() {
  use_malloc();
  use_new();
  use_aligned();
  return 0;
}
