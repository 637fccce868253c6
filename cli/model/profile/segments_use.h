// cli/model/profile/segments_use.h: how tensors fill the segments that their allocator took from a CUDA driver.
//
// A segment is memory that the driver allocated and in which a tensor has lain; its gaps are the parts without a
// tensor. A tensor needs a single gap that is large enough, so the largest gap matters more than the sum of gaps.
#pragma once

#include <cstdint>
#include <vector>

namespace heapprof::cli {

struct SegmentUse {
  uint64_t size_bytes = 0;
  uint64_t allocated_bytes = 0;  // of tensors
  uint64_t gaps = 0;
  uint64_t largest_gap_bytes = 0;
};

struct SegmentsMoment {
  uint64_t at_ns = 0;            // since the start
  uint64_t reserved_bytes = 0;   // all segments
  uint64_t allocated_bytes = 0;  // of tensors, in them
  uint64_t elsewhere_bytes = 0;  // of tensors in memory whose allocation by the driver was not seen
  uint64_t segments_count = 0;
  uint64_t empty_count = 0;  // segments without any tensor
  uint64_t empty_bytes = 0;
  uint64_t largest_gap_bytes = 0;    // of all segments
  std::vector<SegmentUse> segments;  // the kMostSegments segments with the most bytes in gaps
};

inline constexpr size_t kMostSegments = 10;

struct SegmentsUse {
  SegmentsMoment at_peak;  // when the segments were largest
  SegmentsMoment at_end;
  SegmentsMoment at_refusal;  // the last time that a tensor fitted in no gap, and no more memory was available

  bool has_refusal() const { return at_refusal.segments_count != 0 || at_refusal.elsewhere_bytes != 0; }
  bool has_any() const { return at_peak.segments_count != 0 || at_peak.elsewhere_bytes != 0; }
};

}  // namespace heapprof::cli
