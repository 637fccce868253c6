// cli/collect/snapshot_clock.h: when the next snapshot by time is due.
//
// Guarantees
//  - Snapshots by time take a tenth of the collector's time at most: after one that took 10 ms the next is due in 90 ms
//    at the earliest. Moments that are skipped because of this limit, or because the collector was busy, are counted as
//    late.
#pragma once

#include "cli/model/profile/snapshots.h"

#include <algorithm>
#include <cstdint>

namespace heapprof::cli {

class SnapshotClock {
 public:
  // If interval_ns is kMarksOnly, no snapshot is ever due.
  void start(uint64_t interval_ns, uint64_t now_ns) {
    interval_ns_ = interval_ns;
    next_ns_ = interval_ns == kMarksOnly ? UINT64_MAX : now_ns + interval_ns;
  }
  bool is_due(uint64_t now_ns) const { return now_ns >= next_ns_; }
  uint64_t next_ns() const { return next_ns_; }
  uint64_t interval_ns() const { return interval_ns_; }
  uint64_t late() const { return late_; }

  // Call it when a snapshot was taken, from `begin_ns` to `end_ns`. thinnings: how often snapshots were thinned since
  // the start. pre: is_due(begin_ns)
  void taken(uint64_t begin_ns, uint64_t end_ns, uint32_t thinnings) {
    for (; thinnings_ < thinnings && interval_ns_ < kLongestNs; ++thinnings_) interval_ns_ *= 2;
    const uint64_t earliest_ns = end_ns + kShare * (end_ns - begin_ns);
    const uint64_t passed = earliest_ns <= next_ns_ ? 0 : (earliest_ns - next_ns_) / interval_ns_;
    late_ += passed;
    next_ns_ += (passed + 1) * interval_ns_;
  }

 private:
  static constexpr uint64_t kShare = 9;
  static constexpr uint64_t kLongestNs = uint64_t{1} << 56;

  uint64_t interval_ns_ = kMarksOnly;
  uint64_t next_ns_ = UINT64_MAX;
  uint64_t late_ = 0;
  uint32_t thinnings_ = 0;
};

}  // namespace heapprof::cli
