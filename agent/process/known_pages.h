// agent/process/known_pages.h: pages of this process that were found to be readable: a read of them costs no system
// call.
//
// Guarantees
//  - The kernel is asked about a page before its first read, and again after the program has unmapped any page.
// Not provided: knowledge of what the allocator itself unmaps. Memory that is read by this has to be live: the check is
//               for values that are not pointers at all.
// Context:  one thread at a time; inside hooks. A filtered thread does not ask the kernel, so it cannot read a new
//           page.
// Cost:     1 ns; a system call for a new page.
#pragma once

#include "agent/arch/arch.h"
#include "agent/process/own_memory.h"
#include "shared/wire.h"

#include <atomic>
#include <cstdint>

namespace heapprof::agent {

// How often the program unmapped or moved pages: incremented before and after each such call.
inline constinit std::atomic<uint64_t> g_unmaps{0};
inline void note_unmapping() { g_unmaps.fetch_add(1, std::memory_order_relaxed); }

class KnownPages {
 public:
  // True if [avma, avma + bytes) can be read. pre: bytes <= wire::kPageBytes
  bool holds(uint64_t avma, uint64_t bytes) {
    const uint64_t first = avma / wire::kPageBytes;
    const uint64_t last = (avma + bytes - 1) / wire::kPageBytes;
    return holds_page(first) && (__builtin_expect(first == last, 1) || holds_page(last));
  }
  // How many times pages had been unmapped at the last are_mapped_still().
  uint64_t unmaps() const { return unmaps_; }
  // To be called before the first of a series of reads. False: pages were unmapped since the last call, so no page is
  // known.
  bool are_mapped_still() {
    const uint64_t unmaps = g_unmaps.load(std::memory_order_relaxed);
    if (__builtin_expect(unmaps == unmaps_, 1)) return true;
    for (uint64_t& page : pages_) page = 0;
    unmaps_ = unmaps;
    return false;
  }

 private:
  static constexpr uint64_t kKept = 1024;

  // Page 0 is never readable.
  bool holds_page(uint64_t page) {
    uint64_t& known = pages_[page % kKept];
    if (__builtin_expect(known == page && page != 0, 1)) return true;
    const uint64_t start = page * wire::kPageBytes;
    if (page == 0 || page >= (uint64_t{1} << kUsualAddressBits) / wire::kPageBytes ||
        find_readable_end(start, start + wire::kPageBytes) == start)
      return false;
    known = page;
    return true;
  }

  uint64_t unmaps_;
  uint64_t pages_[kKept];
};

}  // namespace heapprof::agent
