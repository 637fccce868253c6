// tests/targets/malloc/oracle/sites.cc: the known stacks. No function here may be inlined, cloned, merged or left by a
// tail call, or the stack would not be what its key says.
#include "sites.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include <new>

#if defined(__clang__)
#define ORACLE_FRAME extern "C" [[gnu::noinline]]
#else
#define ORACLE_FRAME extern "C" [[gnu::noipa]]
#endif
#define ORACLE_NO_TAIL_CALL asm volatile("" ::: "memory")

// C23; in no glibc of today, but a preloaded profiler may bring them.
extern "C" void free_sized(void*, size_t) __attribute__((weak));
extern "C" void free_aligned_sized(void*, size_t, size_t) __attribute__((weak));

namespace oracle {
namespace {

struct Walk {
  const Request* request;
  uint32_t site;
  uint32_t hops;      // number of hop frames
  uint32_t hop[8];    // which, outermost first
  uint32_t descents;  // number of descend frames
};
using Step = void* (*)(const Walk*, uint32_t);

std::align_val_t align_of(const Request* r) { return std::align_val_t(r->alignment); }

}  // namespace

#define LEAF(name, expression)                     \
  ORACLE_FRAME void* do_##name(const Request* r) { \
    void* block = expression;                      \
    ORACLE_NO_TAIL_CALL;                           \
    return block;                                  \
  }
LEAF(malloc, malloc(r->size_bytes))
LEAF(calloc, calloc(r->count, r->size_bytes))
LEAF(realloc, realloc(r->old, r->size_bytes))
LEAF(reallocarray, reallocarray(r->old, r->count, r->size_bytes))
LEAF(aligned_alloc, aligned_alloc(r->alignment, r->size_bytes))
LEAF(memalign, memalign(r->alignment, r->size_bytes))
LEAF(valloc, valloc(r->size_bytes))
LEAF(pvalloc, pvalloc(r->size_bytes))
LEAF(new, ::operator new(r->size_bytes))
LEAF(new_array, ::operator new[](r->size_bytes))
LEAF(new_nothrow, ::operator new(r->size_bytes, std::nothrow))
LEAF(new_array_nothrow, ::operator new[](r->size_bytes, std::nothrow))
LEAF(new_aligned, ::operator new(r->size_bytes, align_of(r)))
LEAF(new_array_aligned, ::operator new[](r->size_bytes, align_of(r)))
LEAF(new_aligned_nothrow, ::operator new(r->size_bytes, align_of(r), std::nothrow))
LEAF(new_array_aligned_nothrow, ::operator new[](r->size_bytes, align_of(r), std::nothrow))
#undef LEAF

ORACLE_FRAME void* do_posix_memalign(const Request* r) {
  void* block = nullptr;
  if (posix_memalign(&block, r->alignment, r->size_bytes) != 0) block = nullptr;
  ORACLE_NO_TAIL_CALL;
  return block;
}

ORACLE_FRAME void* do_new_throwing(const Request* r) {
  try {
    return ::operator new(r->size_bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

namespace {

using Leaf = void* (*)(const Request*);
constexpr Leaf kLeaves[] = {
#define X(name, release, change) do_##name,
    ORACLE_KINDS(X)
#undef X
};

void* call_leaf(const Walk* walk) __attribute__((always_inline));
inline void* call_leaf(const Walk* walk) { return kLeaves[static_cast<uint32_t>(walk->request->kind)](walk->request); }

}  // namespace

#define SITE(number)                                   \
  ORACLE_FRAME void* site_##number(const Walk* walk) { \
    void* block = call_leaf(walk);                     \
    ORACLE_NO_TAIL_CALL;                               \
    return block;                                      \
  }
#define SITES_OF(d) SITE(d##0) SITE(d##1) SITE(d##2) SITE(d##3) SITE(d##4) SITE(d##5) SITE(d##6) SITE(d##7)
// clang-format off
SITES_OF(0) SITES_OF(1) SITES_OF(2) SITES_OF(3) SITES_OF(4) SITES_OF(5) SITES_OF(6) SITES_OF(7)
// clang-format on
#undef SITES_OF

    namespace {
#define NAMES_OF(d) \
  site_##d##0, site_##d##1, site_##d##2, site_##d##3, site_##d##4, site_##d##5, site_##d##6, site_##d##7
  constexpr void* (*kSiteTable[kSites])(const Walk*) = {NAMES_OF(0), NAMES_OF(1), NAMES_OF(2), NAMES_OF(3),
                                                        NAMES_OF(4), NAMES_OF(5), NAMES_OF(6), NAMES_OF(7)};
#undef NAMES_OF
}  // namespace

#define HOP(number) ORACLE_FRAME void* hop_##number(const Walk* walk, uint32_t position);
HOP(0)
HOP(1)
HOP(2)
HOP(3)
#undef HOP

namespace {

constexpr Step kHops[] = {hop_0, hop_1, hop_2, hop_3};

void* take_hop(const Walk* walk, uint32_t position) __attribute__((always_inline));
inline void* take_hop(const Walk* walk, uint32_t position) {
  return position < walk->hops ? kHops[walk->hop[position]](walk, position) : kSiteTable[walk->site](walk);
}

}  // namespace

#define HOP(number)                                                      \
  ORACLE_FRAME void* hop_##number(const Walk* walk, uint32_t position) { \
    void* block = take_hop(walk, position + 1);                          \
    ORACLE_NO_TAIL_CALL;                                                 \
    return block;                                                        \
  }
HOP(0)
HOP(1)
HOP(2)
HOP(3)
#undef HOP

ORACLE_FRAME void* descend(const Walk* walk, uint32_t left) {
  void* block = left > 1 ? descend(walk, left - 1) : take_hop(walk, 0);
  ORACLE_NO_TAIL_CALL;
  return block;
}

namespace {

// Stack number → functions. The number's quotient by kSites is written in bijective base 4: a different list of hops
// for each.
Walk walk_of(uint32_t stack) {
  Walk walk = {};
  walk.site = stack % kSites;
  for (uint32_t rest = stack / kSites; rest > 0 && walk.hops < 8; rest = (rest - 1) / 4)
    walk.hop[walk.hops++] = (rest - 1) % 4;
  walk.descents = (walk.site % 8) * (walk.site % 8);  // 0 … 49 frames
  return walk;
}

constexpr Release kReleases[] = {
#define X(name, release, change) Release::release,
    ORACLE_KINDS(X)
#undef X
};
constexpr Change kChanges[] = {
#define X(name, release, change) Change::change,
    ORACLE_KINDS(X)
#undef X
};
constexpr const char* kKindNames[] = {
#define X(name, release, change) #name,
    ORACLE_KINDS(X)
#undef X
};

}  // namespace

bool is_aligned_kind(Kind kind) {
  switch (kind) {
    case Kind::k_aligned_alloc:
    case Kind::k_memalign:
    case Kind::k_posix_memalign:
    case Kind::k_new_aligned:
    case Kind::k_new_array_aligned:
    case Kind::k_new_aligned_nothrow:
    case Kind::k_new_array_aligned_nothrow: return true;
    default: return false;
  }
}

Release release_of(Kind kind) { return kReleases[static_cast<uint32_t>(kind)]; }

size_t recorded_bytes(Kind kind, size_t asked_bytes, size_t alignment) {
  Change change = kChanges[static_cast<uint32_t>(kind)];
  if (change == Change::kAsIs) return asked_bytes;
  size_t bytes = asked_bytes == 0 ? 1 : asked_bytes;
  return change == Change::kOne ? bytes : (bytes + alignment - 1) / alignment * alignment;
}

void* allocate_on_stack(uint32_t stack, const Request& request) {
  Walk walk = walk_of(stack);
  walk.request = &request;
  return walk.descents > 0 ? descend(&walk, walk.descents) : take_hop(&walk, 0);
}

void release_block(void* block, Release release, size_t asked_bytes, size_t alignment, uint64_t variant) {
  bool sized = variant % 2 != 0;
  switch (release) {
    case Release::kByFree:
      if (variant % 8 == 0 && alignment == 0 && free_sized != nullptr) return free_sized(block, asked_bytes);
      if (variant % 4 == 0 && alignment != 0 && free_aligned_sized != nullptr)
        return free_aligned_sized(block, alignment, asked_bytes);
      return free(block);
    case Release::kByDelete:
      if (alignment != 0) {
        auto align = std::align_val_t(alignment);
        if (variant % 4 == 2) return ::operator delete(block, align, std::nothrow);
        return sized ? ::operator delete(block, asked_bytes, align) : ::operator delete(block, align);
      }
      if (variant % 4 == 2) return ::operator delete(block, std::nothrow);
      return sized ? ::operator delete(block, asked_bytes) : ::operator delete(block);
    case Release::kByDeleteArray:
      if (alignment != 0) {
        auto align = std::align_val_t(alignment);
        if (variant % 4 == 2) return ::operator delete[](block, align, std::nothrow);
        return sized ? ::operator delete[](block, asked_bytes, align) : ::operator delete[](block, align);
      }
      if (variant % 4 == 2) return ::operator delete[](block, std::nothrow);
      return sized ? ::operator delete[](block, asked_bytes) : ::operator delete[](block);
  }
}

size_t write_key(char* text, Kind kind, uint32_t stack) {
  Walk walk = walk_of(stack);
  int length =
      snprintf(text, 200, "do_%s site_%o%o", kKindNames[static_cast<uint32_t>(kind)], walk.site / 8, walk.site % 8);
  for (uint32_t hop = walk.hops; hop > 0; --hop) length += snprintf(text + length, 16, " hop_%u", walk.hop[hop - 1]);
  if (walk.descents > 0) length += snprintf(text + length, 24, " descend*%u", walk.descents);
  return static_cast<size_t>(length);
}

}  // namespace oracle
