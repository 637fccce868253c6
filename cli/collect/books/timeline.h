// cli/collect/books/timeline.h: the smallest and largest number of live bytes in each bucket of time, in bounded
// memory.
//
// Guarantees
//  - Every recorded value is within its bucket's bounds; maximum and minimum of a bucket were really reached.
//  - At most kMaxBuckets buckets: when they are full, neighbours are merged and the width doubles.
//  - record() allocates nothing.
// Cost:     1 ns a value in the current bucket; 64 KiB.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

class LiveTimeline {
 public:
  static constexpr uint64_t kMaxBuckets = 4096;

  struct Bucket {
    uint64_t min_bytes;
    uint64_t max_bytes;
  };

  // Buckets are at first `1 << width_log2` ticks wide.
  explicit LiveTimeline(uint32_t width_log2 = 14) : width_log2_(width_log2) { closed_.reserve(kMaxBuckets); }

  // Time begins here, with 0 bytes.
  void start(uint64_t ticks) {
    start_ticks_ = ticks;
    open_end_ticks_ = ticks + (1ull << width_log2_);
  }

  // Sets the number of live bytes from now on. A time before the current bucket counts as in it.
  void record(uint64_t ticks, uint64_t live_bytes) {
    if (ticks >= open_end_ticks_) [[unlikely]]
      advance(ticks);
    last_bytes_ = live_bytes;
    if (live_bytes < open_.min_bytes) open_.min_bytes = live_bytes;
    if (live_bytes > open_.max_bytes) open_.max_bytes = live_bytes;
  }

  // All buckets up to `end_ticks`, the last one included.
  std::vector<Bucket> buckets(uint64_t end_ticks);
  uint64_t width_ticks() const { return 1ull << width_log2_; }
  uint64_t last_bytes() const { return last_bytes_; }

 private:
  void advance(uint64_t ticks);

  std::vector<Bucket> closed_;
  Bucket open_{0, 0};
  uint64_t start_ticks_ = 0;
  uint64_t open_end_ticks_ = 0;
  uint64_t last_bytes_ = 0;
  uint32_t width_log2_;
};

}  // namespace heapprof::cli
