// cli/collect/books/trace_book.h: the newest events of device memory, in a ring buffer.
//
// Guarantees
//  - The newest `most` events are kept, fewer if memory runs out, and the older ones counted.
//  - Every noted event changed the books. So a release that the driver refused is noted as an end and a begin.
// Context:  one thread; events in the order of their stamps.
// Cost:     40 bytes an event; nothing while it is off, or for the heap's events.
#pragma once

#include "cli/model/profile/device_trace.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

namespace heapprof::cli {

struct TracedEvent {
  uint64_t ticks;
  uint64_t address;
  uint64_t size_bytes;
  uint32_t site;
  uint32_t thread_id;
  uint32_t scope_path;  // of ScopeBook; 0: none
  uint16_t device;      // its number among the books (inner_blocks.h)
  TraceAction action;
  bool is_segment;
};
static_assert(sizeof(TracedEvent) == 40);

class TraceBook {
 public:
  // most: 0: off
  void start(uint64_t most) { most_ = most; }
  bool is_on() const { return most_ != 0; }
  uint64_t most() const { return most_; }
  // Call it before the events that it describes: which thread caused them, and in which scope.
  void set_now(uint32_t thread_id, uint32_t scope_path) {
    thread_id_ = thread_id;
    scope_path_ = scope_path;
  }
  struct What {
    uint32_t device;
    uint64_t address;
    uint64_t size_bytes;
    uint32_t site;
    bool is_segment;
  };
  void note(TraceAction action, const What& what, uint64_t ticks) {
    if (!is_on()) return;
    put({ticks, what.address, what.size_bytes, what.site, thread_id_, scope_path_, static_cast<uint16_t>(what.device),
         action, what.is_segment});
  }
  // The oldest first.
  template <typename Visitor>
  void for_each(const Visitor& visit) const {
    for (size_t i = 0; i < events_.size(); ++i) visit(events_[(next_ + i) % events_.size()]);
  }
  size_t size() const { return events_.size(); }
  uint64_t older() const { return older_; }
  uint64_t bytes() const { return events_.capacity() * sizeof(TracedEvent); }

 private:
  void put(const TracedEvent& event) {
    if (!is_full_ && events_.size() < most_) {
      try {
        events_.push_back(event);
        return;
      } catch (const std::bad_alloc&) {
      }
    }
    is_full_ = true;  // from now on it does not grow
    ++older_;
    if (events_.empty()) return;
    events_[next_] = event;
    next_ = (next_ + 1) % events_.size();
  }

  uint64_t most_ = 0;
  std::vector<TracedEvent> events_;
  size_t next_ = 0;  // the oldest, once it is full
  bool is_full_ = false;
  uint64_t older_ = 0;
  uint32_t thread_id_ = 0;
  uint32_t scope_path_ = 0;
};

}  // namespace heapprof::cli
