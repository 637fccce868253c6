// cli/collect/drain_look.cc: what a round polls before it takes anything.
//
// Most polls find little. So a poll costs no more than one cache line of each ring. A fence interrupts every core that
// runs a thread of any profiled process, so a poll asks for one only if there are several rings and one has moved.
#include "cli/collect/clock.h"
#include "cli/collect/drain.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

namespace heapprof::cli {

namespace {

// How many bytes a ring may hold before its thread waits. If the rings take much memory in all, a ring gets no more
// memory than it has now.
uint64_t room_bytes(uint32_t index, const wire::RingHeader& header, bool is_calm) {
  if (is_calm) return wire::ring_bytes(index);
  const uint32_t resident = header.resident.load(std::memory_order_relaxed) & wire::ring_chunks(index);
  return std::max<uint64_t>(static_cast<uint64_t>(std::popcount(resident)), wire::kSmallChunks) * wire::kChunkBytes;
}

}  // namespace

uint64_t Drain::read_stamp() const {
  if (options_.clock_mode == wire::ClockMode::kSequence)
    return arena_.control().sequence.load(std::memory_order_acquire);
  return read_ticks(options_.clock_mode);
}

// Comes between reading W and looking at the rings. A sequence needs no fence, because a producer that takes a number
// executes one.
void Drain::fence(uint32_t rings) {
  if (options_.clock_mode == wire::ClockMode::kSequence) return;
  switch (options_.fence_mode) {
    case wire::FenceMode::kMembarrierExpedited:
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
      return;
    case wire::FenceMode::kMembarrierGlobal:  // 10 ms and more: only if there is an order to keep
      if (rings > 1) ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
      return;
    case wire::FenceMode::kProducerFence:  // a locked instruction is a fence, and ThreadSanitizer knows it
      arena_.control().heartbeat.fetch_add(1, std::memory_order_seq_cst);
      return;
  }
}

void Drain::add_rings() {
  const uint32_t claimed =
      std::min(arena_.control().rings_claimed.load(std::memory_order_acquire), wire::kMaxRings);  // (C)
  while (rings_.size() < claimed) {
    const auto index = static_cast<uint32_t>(rings_.size());
    const uint64_t* words = arena_.ring_words(index);
    rings_.push_back(std::make_unique<Ring>(words, wire::ring_bytes(index), &shared_, options_.patience_ns));
    if (words == nullptr) {
      rings_.back()->is_readable = false;
      ++unreadable_rings_;
    }
    if (rings_.size() == 2) ledger_.set_repair_window(options_.repair_window_stamps);
  }
}

// Looks at every ring, and lists the active ones. Returns the watermark of the rings without new records.
uint64_t Drain::look(uint64_t round_stamp, uint64_t now_ns) {
  active_.clear();
  uint64_t bound = is_final_ ? UINT64_MAX : round_stamp;
  for (uint32_t i = 0; i < rings_.size(); ++i) {
    Ring& ring = *rings_[i];
    wire::RingHeader& header = arena_.header(i);
    ring.in_event = header.in_event.load(std::memory_order_acquire) != 0 && !is_final_;  // (B), before head
    ring.head = header.head.load(std::memory_order_acquire);                             // (A)
    // A child forked in the middle of its parent's publishing may store an old head; the parent's next store corrects
    // it.
    const bool is_behind = static_cast<int64_t>(ring.head - ring.decoder.position()) < 0;
    if (is_behind && !is_final_) ring.head = ring.decoder.position();
    if (!ring.is_readable) {
      header.tail.store(ring.head, std::memory_order_release);
      header.chunks.fetch_and(~uint64_t{UINT32_MAX}, std::memory_order_release);  // (E)
      continue;
    }
    ring.has_new = ring.head != ring.decoder.position();
    if (ring.has_new || !ring.queue.empty()) active_.push_back(i);
    if (!ring.has_new) bound = std::min(bound, observe(i, round_stamp, now_ns));
  }
  return bound;
}

uint64_t Drain::observe(uint32_t index, uint64_t round_stamp, uint64_t now_ns) {
  Ring& ring = *rings_[index];
  const bool is_all_decoded = ring.decoder.position() == ring.head;
  if (is_final_) return is_all_decoded ? UINT64_MAX : ring.decoder.last_stamp();
  if (ring.decoder.has_stopped()) return round_stamp;
  if (is_all_decoded && !ring.in_event) ring.seen_stamp = round_stamp;
  const RingSight sight{round_stamp, now_ns, ring.head, ring.decoder.last_stamp(), ring.in_event, is_all_decoded};
  return ring.watermark.observe(sight, [this, index] {
    return files_.is_thread_gone(arena_.header(index).thread_id.load(std::memory_order_relaxed));
  });
}

// A single ring needs no merge, and so no fence, which would interrupt every core that runs the program. A second ring
// is claimed before its thread takes its first stamp (C). So if it was not yet claimed after the head was read, its
// stamps are later than all stamps up to that head.
bool Drain::is_alone() const {
  return rings_.size() == 1 && arena_.control().rings_claimed.load(std::memory_order_acquire) == 1;
}

// Whether any ring has moved, or anything waits. Idle rings need no order, and so no fence. Without a fence the bounds
// of the watermark cannot be raised, so they stay unchanged.
bool Drain::has_news(uint64_t round_stamp, uint64_t now_ns) {
  wire::Control& control = arena_.control();
  const bool is_calm = control.resident_chunks.load(std::memory_order_relaxed) < wire::kMostCalmChunks;
  bool has_news = waiting_ != 0 ||
                  std::min(control.rings_claimed.load(std::memory_order_acquire), wire::kMaxRings) != rings_.size();
  pace_.look(now_ns);
  for (uint32_t i = 0; i < rings_.size(); ++i) {
    Ring& ring = *rings_[i];
    const wire::RingHeader& header = arena_.header(i);
    const bool in_event = header.in_event.load(std::memory_order_acquire) != 0;
    const uint64_t head = header.head.load(std::memory_order_acquire);
    if (!ring.is_readable) {
      has_news = has_news || head != ring.head;
      continue;
    }
    const auto bytes = static_cast<int64_t>(head - ring.decoder.position());
    if (bytes > 0) {
      has_news = true;
      pace_.note(std::min(static_cast<uint64_t>(bytes), wire::ring_bytes(i)), room_bytes(i, header, is_calm));
    } else if (!in_event) {
      ring.seen_stamp = round_stamp;
      ring.watermark.rest();
    }
  }
  return has_news;
}

}  // namespace heapprof::cli
