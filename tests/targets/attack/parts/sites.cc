// tests/targets/attack/parts/sites.cc: one function for each place that allocates, none of them merged or inlined; its
// caller is one of its own too, so that a stack which was read wrongly shows.
#include "sites.h"

#include "../../keep.h"
#include "books.h"

#include <malloc.h>

#include <new>

namespace attack {
namespace {
void* allocate_aligned(size_t size, size_t alignment) {
  return aligned_alloc(alignment, size);  // glibc takes any size
}
void* allocate_posix(size_t size) {
  void* block = nullptr;
  return posix_memalign(&block, 128, size) == 0 ? block : nullptr;
}
}  // namespace

#define SITE(name, call)                       \
  KEEP_FRAME void* site_##name(size_t size) {  \
    Allocation allocation(kSite_##name, size); \
    return allocation.made(keep(call));        \
  }                                            \
  KEEP_FRAME void* via_##name(size_t size) { return keep(site_##name(size)); }
#include "sites.def"
#undef SITE

KEEP_FRAME void* site_realloc_a(void* block, size_t size) {
  Ending ending(block);
  Allocation allocation(kSite_realloc_a, size);
  void* moved = keep(realloc(block, size));
  if (moved != nullptr) ending.done();
  return allocation.made(moved);
}
KEEP_FRAME void* via_realloc_a(void* block, size_t size) { return keep(site_realloc_a(block, size)); }
KEEP_FRAME void* site_realloc_b(void* block, size_t size) {
  Ending ending(block);
  Allocation allocation(kSite_realloc_b, size);
  void* moved = keep(realloc(block, size));
  if (moved != nullptr) ending.done();
  return allocation.made(moved);
}
KEEP_FRAME void* via_realloc_b(void* block, size_t size) { return keep(site_realloc_b(block, size)); }

const Site kTable[kSites] = {
#define SITE(name, call) {"site_" #name, via_##name},
#include "sites.def"
#undef SITE
    {"site_realloc_a", nullptr}, {"site_realloc_b", nullptr}, {"plugin_site_0", nullptr}, {"plugin_site_1", nullptr},
    {"plugin_site_2", nullptr},  {"plugin_site_3", nullptr},  {"plugin_site_4", nullptr}, {"plugin_site_5", nullptr},
};

KEEP_FRAME void* allocate_for_plugin(uint32_t site, size_t size) {
  Allocation allocation(site, size);
  return allocation.made(keep(malloc(size)));
}

KEEP_FRAME void release(void* block) {
  if (block == nullptr) return;
  const uint32_t site = static_cast<Block*>(block)->site;
  Ending ending(block);
  if (site == kSite_new_a) {
    ::operator delete(block);
  } else if (site == kSite_new_b) {
    ::operator delete[](block);
  } else {
    free(block);
  }
  ending.done();
}

}  // namespace attack
