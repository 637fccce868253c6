// cli/collect/rings/sole_writer.h: which ring has been written alone for so long that it may go on without stamps.
//
// Another ring's next event takes the right away. Where that happens soon, the next ring has to wait for longer, as
// giving costs a fence and losing a cache line that two cores pull at.
//
// Context:  pure data: no clock, no memory of the target.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heapprof::cli {

class SoleWriter {
 public:
  static constexpr uint64_t kAfterNs = 2'000'000;
  static constexpr uint64_t kNever = UINT64_MAX;

  // after_ns: how long a ring has to be alone; kNever: no ring gets the right.
  explicit SoleWriter(uint64_t after_ns) : after_ns_(after_ns), wait_ns_(after_ns) {}

  // A round found that this ring alone has new records; kSeveral: not it alone.
  static constexpr uint32_t kSeveral = UINT32_MAX;
  void saw(uint32_t ring, uint64_t now_ns) {
    if (ring == ring_ && ring != kSeveral) return;
    ring_ = ring;
    since_ns_ = now_ns;
  }
  bool is_due(uint64_t now_ns) const {
    return after_ns_ != kNever && ring_ != kSeveral && now_ns - since_ns_ >= wait_ns_;
  }
  uint32_t ring() const { return ring_; }

  void gave(uint64_t now_ns) { gave_ns_ = now_ns; }
  void lost(uint64_t now_ns) {
    const bool was_worth_it = now_ns - gave_ns_ >= kWorth * wait_ns_;
    wait_ns_ = was_worth_it ? after_ns_ : std::min(2 * wait_ns_, kMostWaits * after_ns_);
    ring_ = kSeveral;
  }

 private:
  static constexpr uint64_t kWorth = 4;  // waits that the right should last
  static constexpr uint64_t kMostWaits = 128;

  uint64_t after_ns_;
  uint64_t wait_ns_;
  uint64_t since_ns_ = 0;
  uint64_t gave_ns_ = 0;
  uint32_t ring_ = kSeveral;
};

}  // namespace heapprof::cli
