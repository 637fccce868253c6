// cli/collect/recorded_blocks.h: which blocks of the heap are recorded.
#pragma once

#include "shared/sampling.h"

#include <cstdint>

namespace heapprof::cli {

// While recording is not paused.
struct RecordedBlocks {
  uint64_t interval_bytes = 0;  // within the limits of shared/sampling.h: blocks are chosen by it; 0: all are recorded

  friend bool operator==(const RecordedBlocks&, const RecordedBlocks&) = default;
};

}  // namespace heapprof::cli
