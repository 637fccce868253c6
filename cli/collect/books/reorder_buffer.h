// cli/collect/books/reorder_buffer.h: the reorder buffer: it keeps events that came before the event that they need, by
// address, until that event comes or they time out.
//
// rdtsc is not ordered with the locked instruction that hands a block to another thread. So two events of one address
// may be stamped in the wrong order (1-60 in 9 million). An address alternates between begin and end, which shows the
// event that is early. So a begin at an address with a live block waits for that block's end, and an end at an address
// without a live block waits for a begin.
//
// Not provided: what to do with an event; see ledger.cc.
#pragma once

#include "cli/collect/rings/event.h"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

struct ParkedEvent {
  Event event;
  uint32_t ring;
  uint64_t id;
  uint32_t scope_path;  // in which it came (ScopeBook); 0: in none
  bool is_in_pause;     // a begin that is to be left out
  bool after_realloc;   // an end whose realloc returned before the end could be booked

  // True if this is an end that certainly came before the begin of its address: either it came earlier in the same
  // ring, or stamps are never inverted and the end's is smaller.
  bool is_end_before(const Event& begin, uint32_t begin_ring, bool are_stamps_ordered) const {
    if (event.kind() == EventKind::kMalloc) return false;
    return ring == begin_ring || (are_stamps_ordered && begin.stamp > event.stamp);
  }
};

class ReorderBuffer {
 public:
  bool empty() const { return by_address_.empty(); }

  // pre: `stamp`, the time now, does not decrease. Returns the event's number.
  uint64_t defer(uint64_t stamp, const Event& event, uint32_t ring, uint32_t scope_path, bool is_in_pause);
  // The same for an event from another ReorderBuffer.
  uint64_t defer(uint64_t stamp, ParkedEvent deferred);
  // The event of this address that has waited longest; nullptr: none.
  const ParkedEvent* first(uint64_t address) const;
  ParkedEvent take_first(uint64_t address);
  // For changing a waiting event; nullptr: it no longer waits.
  ParkedEvent* find(uint64_t address, uint64_t id);
  void remove(uint64_t address, uint64_t id);

  std::vector<uint64_t> addresses() const;

  // When the oldest event was deferred, or earlier; UINT64_MAX: nothing waits.
  uint64_t oldest_stamp() const { return by_age_.empty() ? UINT64_MAX : by_age_.front().stamp; }
  // The address whose first event was deferred at `latest_stamp` or before and has waited longest; 0: none.
  uint64_t overdue(uint64_t latest_stamp);

 private:
  struct Waiting {
    uint64_t stamp;
    uint64_t address;
    uint64_t id;
  };
  std::unordered_map<uint64_t, std::deque<ParkedEvent>> by_address_;
  std::deque<Waiting> by_age_;  // may name events that are gone
  uint64_t next_id_ = 1;
};

}  // namespace heapprof::cli
