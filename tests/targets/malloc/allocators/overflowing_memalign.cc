// tests/targets/malloc/allocators/overflowing_memalign.cc: an allocator whose sum overflows, so that a request for
// nearly all of the address space succeeds.
#include <cstddef>

extern "C" __attribute__((visibility("default"))) void* memalign(size_t alignment, size_t size) {
  static char blocks[64 << 10];
  static size_t used;
  void* const block = blocks + used;
  used += (size + alignment + 15) & ~size_t{15};
  return block;
}
