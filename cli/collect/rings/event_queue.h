// cli/collect/rings/event_queue.h: decoded events of one ring that wait for the watermark, in order.
//
// Guarantees
//  - The events are contiguous in memory; taken events are dropped, and a large empty queue frees its memory.
#pragma once

#include "cli/collect/rings/event.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace heapprof::cli {

class EventQueue {
 public:
  bool empty() const { return front_ == events_.size(); }
  size_t size() const { return events_.size() - front_; }
  const Event& front() const { return events_[front_]; }
  // The event `count` places after the front; nullptr: there are not so many.
  const Event* ahead(size_t count) const { return count < size() ? &events_[front_ + count] : nullptr; }

  // The events from the front with stamps up to `bound`.
  std::span<const Event> up_to(uint64_t bound) const {
    const std::span<const Event> all = std::span(events_).subspan(front_);
    const auto end = std::partition_point(all.begin(), all.end(), [bound](const Event& e) { return e.stamp <= bound; });
    return all.first(static_cast<size_t>(end - all.begin()));
  }

  // The same, but at most `most` events, and without searching the whole queue.
  std::span<const Event> run_up_to(uint64_t bound, size_t most) const {
    const std::span<const Event> first = std::span(events_).subspan(front_, std::min(most, size()));
    size_t count = 0;
    while (count < first.size() && first[count].stamp <= bound) ++count;
    return first.first(count);
  }

  void push(std::span<const Event> events) { events_.insert(events_.end(), events.begin(), events.end()); }

  void pop(size_t count = 1) {
    front_ += count;
    if (front_ == events_.size()) {
      reset();
    } else if (front_ >= kCompactFrom && front_ * 2 >= events_.size()) {
      events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(front_));
      front_ = 0;
    }
  }

 private:
  static constexpr size_t kCompactFrom = 4096;
  static constexpr size_t kLarge = 1 << 16;

  void reset() {
    events_.clear();
    if (events_.capacity() > kLarge) events_.shrink_to_fit();
    front_ = 0;
  }

  std::vector<Event> events_;
  size_t front_ = 0;
};

}  // namespace heapprof::cli
