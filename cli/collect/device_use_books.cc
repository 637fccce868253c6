// cli/collect/device_use_books.cc: see collector_parts.h.
#include "cli/collect/collector_parts.h"

#include <algorithm>

namespace heapprof::cli {

// A number of this process alone is preferred to one of all processes. NVML may count memory before its event has
// arrived: if NVML reports the same number again, it is the same memory, and the books have caught up with it.
void note_use(uint64_t bytes, bool is_of_all, uint64_t seen_bytes, DeviceUse* use) {
  if (use->samples != 0 && use->is_of_all != is_of_all) {
    if (is_of_all) return;
    *use = {};
  }
  use->missing.clear();
  use->is_of_all = is_of_all;
  ++use->samples;
  if (bytes < use->max_bytes) return;
  use->seen_at_max_bytes = bytes > use->max_bytes ? seen_bytes : std::max(use->seen_at_max_bytes, seen_bytes);
  use->max_bytes = bytes;
}

}  // namespace heapprof::cli
