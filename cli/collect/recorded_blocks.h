// cli/collect/recorded_blocks.h: which blocks of the heap are recorded.
#pragma once

#include "shared/sampling.h"

#include <cstdint>

namespace heapprof::cli {

// Applies while recording is not paused.
struct RecordedBlocks {
  uint64_t interval_bytes = 0;  // sampling interval, within the limits of shared/sampling.h; 0: all blocks are recorded

  friend bool operator==(const RecordedBlocks&, const RecordedBlocks&) = default;
};

}  // namespace heapprof::cli
