// tests/targets/attack/parts/heap.cc: blocks of every function, handed among threads, made in callbacks, in deep stacks
// and while exceptions fly; and pages of the attacker's own.
#include "../../keep.h"
#include "action.h"

#include <string.h>
#include <sys/mman.h>

namespace attack {

size_t any_size(Random& random) {
  const uint32_t kind = random.below(100);
  if (kind < 70) return kLeastBytes + random.below(480);
  if (kind < 97) return kLeastBytes + random.below(kMostBytes);
  return 100000 + random.below(200000);  // pages of its own in glibc
}

void* take(uint32_t site, size_t size) { return kTable[site].via(size); }

void work(Context& context, unsigned operations, const uint32_t* sites, unsigned count) {
  for (unsigned i = 0; i < operations; ++i) {
    void*& place = context.pool[context.random.below(kPool)];
    if (place != nullptr && context.random.below(6) == 0) {
      void* moved = (context.random.below(2) != 0 ? via_realloc_a : via_realloc_b)(place, any_size(context.random));
      if (moved != nullptr) place = moved;
    } else if (place != nullptr) {
      release(place);
      place = nullptr;
    } else {
      place = take(sites[context.random.below(count)], any_size(context.random));
    }
  }
}

// What came by operator new may not go to realloc.
constexpr uint32_t kHeapSites[] = {kSite_malloc_a, kSite_malloc_b,  kSite_malloc_c,  kSite_calloc_a,
                                   kSite_calloc_b, kSite_aligned_a, kSite_aligned_b, kSite_posix_a};
void work_heap(Context& context, unsigned operations) { work(context, operations, kHeapSites, 8); }

long act_heap(Context& context, unsigned amount) {
  work_heap(context, amount);
  for (unsigned i = 0; i < amount / 8; ++i) {
    void* block = take(context.random.below(2) != 0 ? kSite_new_a : kSite_new_b, any_size(context.random));
    if (context.random.below(8) != 0) release(block);
  }
  return 0;
}

// Places where threads leave blocks for each other.
static std::atomic<void*> g_exchange[64];
long act_exchange(Context& context, unsigned amount) {
  for (unsigned i = 0; i < amount; ++i) {
    void* mine = take(kSite_malloc_c, any_size(context.random));
    release(g_exchange[context.random.below(64)].exchange(mine));
  }
  return 0;
}

namespace {
struct Releases {
  void* block;
  ~Releases() { release(block); }
};
KEEP_FRAME int throw_at(unsigned depth, Random& random) {
  const Releases held{take(kSite_unwinding, any_size(random))};
  if (depth == 0) throw 7;
  return throw_at(depth - 1, random) + (keep(held.block) != nullptr);
}
KEEP_FRAME void* descend(unsigned depth, Random& random) {
  volatile char frame[64];
  frame[depth % 64] = 1;
  void* block = depth == 0 ? take(kSite_deep, any_size(random)) : descend(depth - 1, random);
  return frame[depth % 64] == 1 ? keep(block) : nullptr;
}
}  // namespace

long act_exceptions(Context& context, unsigned amount) {
  long caught = 0;
  for (unsigned i = 0; i < amount; ++i) {
    try {
      throw_at(context.random.below(12), context.random);
    } catch (const int& thrown) {
      caught += thrown;
    }
  }
  return caught;
}

long act_recursion(Context& context, unsigned amount) {
  for (unsigned i = 0; i < 6; ++i) release(descend(amount / (i + 1), context.random));
  return 0;
}

long act_mapping(Context& context, unsigned amount) {
  long sum = 0;
  for (unsigned i = 0; i < amount; ++i) {
    const size_t bytes = (2 + context.random.below(6)) * kPageBytes;
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return -1;
    memset(pages, 3, bytes);
    if (mprotect(pages, kPageBytes, PROT_NONE) != 0) return -2;
    if (mprotect(pages, kPageBytes, PROT_READ | PROT_WRITE) != 0) return -3;
    void* moved = mremap(pages, bytes, bytes * 2, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) return -4;
    sum += static_cast<char*>(moved)[bytes - 1];
    if (munmap(static_cast<char*>(moved) + kPageBytes, kPageBytes) != 0) return -5;
    if (munmap(moved, bytes * 2) != 0) return -6;
    work_heap(context, 2);
  }
  return sum;
}

}  // namespace attack
