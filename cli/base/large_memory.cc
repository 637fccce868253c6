// cli/base/large_memory.cc: see large_memory.h.
#include "cli/base/large_memory.h"

#include <sys/mman.h>

#include <cstdint>

namespace heapprof::cli {

void advise_large(void* memory, size_t bytes) {
  constexpr size_t kLeastBytes = 4 << 20;  // with less there may be no whole huge page in it
  constexpr uintptr_t kPageBytes = 4096;
  if (bytes < kLeastBytes) return;
  const uintptr_t first = reinterpret_cast<uintptr_t>(memory) & ~(kPageBytes - 1);
  const uintptr_t last = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~(kPageBytes - 1);
  ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace heapprof::cli
