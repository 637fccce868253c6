// cli/collect/rings/pace.h: how long the rings of a process may be left unread.
//
// Each look at the rings costs the collector time, and the program too where cores share their execution units. If a
// ring is left unread for too long, it runs full and its thread waits. So the next look is due when the fullest ring
// will be a quarter full, if it is written as fast as since the previous look. The other three quarters are room for
// error. A thread that stopped writing because it lost its core may resume at full speed at any moment. So the time
// until the next look is at most doubled each time.
//
// Context:  pure data: no clock, no memory of the target.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heapprof::cli {

enum class RoundKind : uint8_t {
  kAll,    // takes what is published
  kIfDue,  // with several rings, only if much is unread, or the last round that took events was a while ago
};

class Pace {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;
  static constexpr uint64_t kWantedParts = 4;  // of a ring; at the next look one part of the fullest ring may be full
  // A look may be put off if less than 1/kFewParts of the fullest ring is unread, and the previous look (one that was
  // not put off) was less than kSoonNs ago.
  static constexpr uint64_t kFewParts = 8;
  static constexpr uint64_t kSoonNs = 1'000'000;
  static constexpr uint64_t kFirstIntervalNs = 150'000;

  // A look begins; note() reports its rings.
  void look(uint64_t now_ns) {
    now_ns_ = now_ns;
    bytes_ = 0;
    room_bytes_ = 1;
  }
  // A ring with this much room has this many unread bytes.
  void note(uint64_t bytes, uint64_t room_bytes) {
    if (static_cast<__uint128_t>(bytes) * room_bytes_ <= static_cast<__uint128_t>(bytes_) * room_bytes) return;
    bytes_ = bytes;
    room_bytes_ = room_bytes;
  }
  // Whether this look may as well come later. False for the first one.
  bool is_early() const {
    return bytes_ < room_bytes_ / kFewParts && looked_ns_ != 0 && now_ns_ - looked_ns_ < kSoonNs;
  }
  // The records that the look found were taken, or there were none.
  void accept() {
    interval_ns_ = std::min(wanted_ns(), std::max(interval_ns_, kFirstIntervalNs / 2) * 2);
    if (interval_ns_ > kLongestIntervalNs) interval_ns_ = kLongestIntervalNs;
    next_ns_ = now_ns_ + interval_ns_;
    looked_ns_ = now_ns_;
  }
  // The look found records that are left for a later round.
  void put_off() { next_ns_ = looked_ns_ + std::min(wanted_ns(), kSoonNs); }

  // When the next look is due.
  uint64_t next_ns() const { return next_ns_; }

 private:
  static constexpr uint64_t kLongestIntervalNs = 1'000'000'000;

  // The time from the previous look until the fullest ring is as full as it may be.
  uint64_t wanted_ns() const {
    if (bytes_ == 0) return kNever;
    const auto ns = static_cast<__uint128_t>(now_ns_ - looked_ns_) * room_bytes_ /
                    (static_cast<__uint128_t>(bytes_) * kWantedParts);
    return ns >= kNever ? kNever : static_cast<uint64_t>(ns);
  }

  uint64_t now_ns_ = 0;
  uint64_t looked_ns_ = 0;  // when the rings were last empty, or emptied
  uint64_t interval_ns_ = 0;
  uint64_t next_ns_ = 0;
  uint64_t bytes_ = 0;  // of the fullest ring
  uint64_t room_bytes_ = 1;
};

}  // namespace heapprof::cli
