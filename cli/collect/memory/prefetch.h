// cli/collect/memory/prefetch.h: prefetches a cache line that will be written soon.
#pragma once

namespace heapprof::cli {

// GCC 12 treats a function with nothing but __builtin_prefetch as free of effects, and drops calls of it and of its
// callers. The empty volatile statement counts as an effect.
inline void prefetch_line(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace heapprof::cli
