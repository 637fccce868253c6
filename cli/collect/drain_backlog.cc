// cli/collect/drain_backlog.cc: rounds in two threads (drain.h).
//
// The second thread works on the queues and the ledger, this one on the rings and the call tree. What this thread
// decodes is given to the second thread at its next start, in this round or the next, because the order of several
// rings is known only when all of them are decoded.
#include "cli/collect/drain.h"

#include <algorithm>

namespace heapprof::cli {

uint64_t Drain::backlog_bytes() const {
  uint64_t bytes = 0;
  for (const uint32_t index : active_) bytes += rings_[index]->head - rings_[index]->decoder.position();
  return bytes;
}

size_t Drain::decode_beside_merge(uint64_t ceiling, bool is_lone) {
  struct Waiter {  // if this thread throws, the second one must not go on running
    SecondThread* second;
    ~Waiter() {
      try {
        second->wait();
      } catch (...) {  // the exception of this thread has the same cause: there is no memory
      }
    }
  };
  size_t taken = 0;
  for (bool goes_on = true; goes_on;) {
    const size_t waiting = waiting_;
    const Waiter waiter{options_.second};
    start_merge();
    goes_on = decode_chunk(ceiling, waiting);
    options_.second->wait();
    taken += fresh_count_;
    queue_fresh();
    if (is_lone) ready_bound_ = rings_[active_.front()]->decoder.last_stamp();
  }
  return taken;
}

void Drain::start_merge() {
  ledger_.grow_sites(shared_.tree->site_count());
  for (const uint32_t index : active_) rings_[index]->queued = rings_[index]->queue.size();
  options_.second->start([this] { merge(ready_bound_); });
}

// Decodes a part of each ring. False: nothing is left that could be decoded now.
bool Drain::decode_chunk(uint64_t ceiling, size_t waiting) {
  const size_t share = std::max(kChunkEvents / active_.size(), DecodeShared::kBatchEvents);
  if (fresh_.size() < kChunkEvents) fresh_.resize(kChunkEvents);
  bool is_cut = false;
  for (const uint32_t index : active_) {
    Ring& ring = *rings_[index];
    const DecodeLimits limits{ring.seen_stamp, ceiling};
    while (ring.decoder.position() != ring.head) {
      if (ring.fresh + DecodeShared::kBatchEvents > share ||
          fresh_count_ + DecodeShared::kBatchEvents > fresh_.size()) {
        is_cut = true;
        break;
      }
      if (waiting + fresh_count_ >= kMaxWaiting && ring.queued + ring.fresh >= kMinWaiting) break;
      const std::span<Event> room(fresh_.data() + fresh_count_, DecodeShared::kBatchEvents);
      const size_t count = ring.decoder.decode(ring.head, limits, room);
      ring.fresh += count;
      fresh_count_ += count;
      release_some(index);
    }
    release(index);
  }
  return is_cut;
}

void Drain::queue_fresh() {
  const Event* next = fresh_.data();
  for (const uint32_t index : active_) {
    Ring& ring = *rings_[index];
    queue_rest(ring, std::span(next, ring.fresh));
    next += ring.fresh;
    ring.fresh = 0;
  }
  fresh_count_ = 0;
}

void Drain::apply_ready() {
  active_.clear();
  for (uint32_t i = 0; i < rings_.size(); ++i) {
    if (!rings_[i]->queue.empty()) active_.push_back(i);
  }
  ledger_.grow_sites(shared_.tree->site_count());
  merge(ready_bound_);
}

}  // namespace heapprof::cli
