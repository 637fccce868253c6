// cli/collect/rings/watermark.h: up to which stamp all events of one ring are known.
//
// A round of the collector reads a stamp W, makes every producer's stores visible (FenceMode), and then looks at each
// ring: in_event first, head second. A ring that is not inside an event will only write stamps above W. A ring inside
// an event may write a stamp below W, but not below its last published stamp, nor below the last W at which it was seen
// outside an event.
//
// Guarantees
//  - A ring holds the others back for patience_ns at most, for one event; a dead thread's ring not at all. Events that
//    were passed over may come late. They keep their place in the history of their address, because their thread has
//    not used or given away the block yet.
// Context:  pure data: no clock, no memory of the target.
#pragma once

#include <cstdint>

namespace heapprof::cli {

struct RingSight {
  uint64_t round_stamp;  // W
  uint64_t now_ns;
  uint64_t head;
  uint64_t last_stamp;  // of the last decoded event
  bool in_event;
  bool is_all_decoded;  // up to `head`
};

class RingWatermark {
 public:
  static constexpr uint64_t kProbeNs = 2'000'000;  // from here on it is worth asking whether the thread still exists

  explicit RingWatermark(uint64_t patience_ns) : patience_ns_(patience_ns) {}

  // Every event of this ring that is not decoded yet has a stamp above the one returned, unless the ring has been
  // passed over. is_gone() says whether the ring's thread has ended.
  template <typename IsGone>
  uint64_t observe(const RingSight& sight, const IsGone& is_gone) {
    uint64_t bound = sight.round_stamp;
    if (!sight.in_event) {
      idle_stamp_ = sight.round_stamp;
      is_blocking_ = false;
    } else if (!is_passed_over(sight, is_gone)) {
      bound = larger(sight.last_stamp, idle_stamp_);
    }
    if (!sight.is_all_decoded && sight.last_stamp < bound) bound = sight.last_stamp;
    return bound;
  }

  // Call it if the ring was seen outside an event without a fence. This sets no bound for its stamps, but shows that an
  // event in which the ring is seen later is another one.
  void rest() { is_blocking_ = false; }

  uint64_t skips() const { return skips_; }

 private:
  static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

  template <typename IsGone>
  bool is_passed_over(const RingSight& sight, const IsGone& is_gone) {
    if (!is_blocking_ || blocking_head_ != sight.head) {  // another event than the one known so far
      is_blocking_ = true;
      is_dropped_ = false;
      blocking_head_ = sight.head;
      since_ns_ = probed_ns_ = sight.now_ns;
      return false;
    }
    if (is_dropped_) return true;
    if (sight.now_ns - since_ns_ >= patience_ns_) {
      is_dropped_ = true;
      ++skips_;
      return true;
    }
    if (sight.now_ns - probed_ns_ < kProbeNs) return false;
    probed_ns_ = sight.now_ns;
    is_dropped_ = is_gone();
    return is_dropped_;
  }

  uint64_t patience_ns_;
  uint64_t idle_stamp_ = 0;
  uint64_t blocking_head_ = 0;
  uint64_t since_ns_ = 0;
  uint64_t probed_ns_ = 0;
  uint64_t skips_ = 0;
  bool is_blocking_ = false;
  bool is_dropped_ = false;
};

}  // namespace heapprof::cli
