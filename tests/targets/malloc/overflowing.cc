// tests/targets/malloc/overflowing.cc: a block of an impossible size (allocators/overflowing_memalign.cc), then blocks
// of the usual kind.
#include "../keep.h"

#include <malloc.h>

#include <cstdint>
#include <cstdio>

KEEP_FRAME void allocate() {
  for (int i = 0; i < 10; ++i) keep(malloc(1235));
}

int main() {
  volatile size_t size = SIZE_MAX;
  std::puts(keep(memalign(32, size)) != nullptr ? "given" : "refused");
  allocate();
  return 0;
}
