// cli/collect/memory/prefetch.h: asks the cache for a line that will be written soon.
#pragma once

namespace heapprof::cli {

// A function that does nothing but __builtin_prefetch counts as without effect for GCC 12, and calls of it are dropped,
// those of its callers too. The empty volatile statement is an effect.
inline void prefetch_line(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace heapprof::cli
