// cli/collect/rings/sample_rates.h: the intervals by which blocks of one process are chosen (shared/sampling.h), by
// number.
//
// Context: the collector's thread calls add(); both of its threads may call the others at the same time.
// Trust:    the process states an interval: one that the collector never asked for is rejected.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace heapprof::cli {

class SampleRates {
 public:
  static constexpr uint32_t kMost = 255;

  // Adds an interval that the agent may use from now on. False: there have been too many different ones.
  bool add(uint64_t interval_bytes) {
    if (find(interval_bytes)) return true;
    const uint32_t count = count_.load(std::memory_order_relaxed);
    if (count == kMost) return false;
    intervals_[count + 1] = interval_bytes;
    count_.store(count + 1, std::memory_order_release);
    return true;
  }
  // The interval's number, from 1 on; 0: all blocks are recorded. nullopt: there is no such interval.
  std::optional<uint32_t> find(uint64_t interval_bytes) const {
    if (interval_bytes == 0) return 0;
    const uint32_t count = count_.load(std::memory_order_acquire);
    for (uint32_t number = 1; number <= count; ++number) {
      if (intervals_[number] == interval_bytes) return number;
    }
    return std::nullopt;
  }
  // pre: find() returned the number
  uint64_t interval_bytes(uint32_t number) const { return intervals_[number]; }
  // The largest interval ever; 0: none.
  uint64_t largest_bytes() const { return *std::max_element(intervals_.begin(), intervals_.end()); }

 private:
  std::array<uint64_t, kMost + 1> intervals_{};  // by number
  std::atomic<uint32_t> count_{0};
};

}  // namespace heapprof::cli
