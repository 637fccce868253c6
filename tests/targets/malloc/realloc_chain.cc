// tests/targets/malloc/realloc_chain.cc: one block through a thousand reallocs, one that fails, one that shrinks it,
// one that frees it.
#include "../keep.h"

static volatile size_t g_too_much = SIZE_MAX - 4096;

KEEP_FRAME void* grow(void* block, size_t size_bytes) { return keep(realloc(block, size_bytes)); }
KEEP_FRAME void* refuse(void* block) { return keep(realloc(block, g_too_much)); }
KEEP_FRAME void* shrink(void* block) { return keep(realloc(block, 3)); }
KEEP_FRAME void* release(void* block) { return keep(realloc(block, 0)); }
KEEP_FRAME void* refuse_array(void* block) { return keep(reallocarray(block, g_too_much / 2, 3)); }
KEEP_FRAME void* grow_array(void* block) { return keep(reallocarray(block, 1235, 3)); }

int main() {
  void* block = nullptr;
  for (size_t i = 1; i <= 1000; ++i) block = grow(block, 7 * i);
  if (refuse(block) != nullptr) return 97;
  if (refuse_array(block) != nullptr) return 96;
  block = shrink(block);
  block = grow_array(block);
  return release(block) == nullptr ? 0 : 95;
}
