// tests/targets/malloc/zero_bytes.cc: blocks of no bytes, and requests that cannot be met.
#include "../keep.h"

#include <malloc.h>

#include <new>

KEEP_FRAME void allocate_nothing() {
  for (int i = 0; i < 3; ++i) keep(malloc(0));
  keep(calloc(0, 5));
  keep(calloc(5, 0));
  keep(realloc(nullptr, 0));
  free(keep(memalign(64, 0)));
}

KEEP_FRAME bool allocate_too_much() {
  size_t huge = SIZE_MAX - static_cast<size_t>(atoi("7"));
  void* block = nullptr;
  bool refused = keep(malloc(huge)) == nullptr && keep(calloc(huge, 2)) == nullptr &&
                 keep(realloc(nullptr, huge)) == nullptr && keep(memalign(64, huge)) == nullptr &&
                 posix_memalign(&block, 64, huge) != 0 && posix_memalign(&block, 3, 8) != 0;
  return refused;
}

KEEP_FRAME void allocate_beyond_4_gib() {
  void* block = keep(malloc((size_t{5} << 30) + 1235));
  block = keep(realloc(block, (size_t{6} << 30) + 1237));
  if (block == nullptr) exit(96);
  free(block);
}

int main() {
  allocate_nothing();
  allocate_beyond_4_gib();
  return allocate_too_much() ? 0 : 97;
}
