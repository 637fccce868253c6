// cli/collect/drain_sole.cc: the right to write without stamps is given, and is noticed to be gone.
//
// A ring that has been written alone for a while needs no stamps: there is nothing to put its events in order with.
// README.md ("One writer among many threads") has the proof; in short: whoever may be inside of an event while the
// right is offered is seen by the fence between the offer and the look, or sees the offer and takes it away.
#include "cli/collect/drain.h"

#include <utility>

namespace heapprof::cli {

// The right stands, and the ring that has it is the only one with anything to take: what its head covers came before
// all that others will do. No fence is needed for that: (H) is loaded after the head, and who takes the right away does
// so before its event.
bool Drain::is_sole_alone() {
  if (sole_ == 0) return false;
  wire::Control& control = arena_.control();
  look_plainly();
  const bool is_alone = active_.size() == 1 && wire::is_sole_of(sole_, active_.front()) &&
                        control.rings_claimed.load(std::memory_order_acquire) == rings_.size();
  return control.sole.load(std::memory_order_acquire) == sole_ && is_alone;  // (H), after every head
}

void Drain::notice_loss(uint64_t now_ns) {
  if (sole_ == 0 || arena_.control().sole.load(std::memory_order_acquire) == sole_) return;
  sole_ = 0;
  writer_.lost(now_ns);
}

// Who has new records, as far as this round has seen.
void Drain::note_writers(uint64_t now_ns) {
  uint32_t writer = SoleWriter::kSeveral;
  uint32_t writers = 0;
  for (const uint32_t index : active_) {
    if (!rings_[index]->has_new) continue;
    writer = index;
    ++writers;
  }
  if (writers != 0) writer_.saw(writers == 1 ? writer : SoleWriter::kSeveral, now_ns);
}

// Comes before a fence and a look at all rings, which settle_offer() goes by. Only where the fence is the kernel's:
// others cost more than the right is worth.
void Drain::offer(uint64_t now_ns) {
  if (is_final_ || sole_ != 0 || offered_ != 0 || !writer_.is_due(now_ns)) return;
  if (options_.fence_mode != wire::FenceMode::kMembarrierExpedited) return;
  const uint32_t ring = writer_.ring();
  if (arena_.header(ring).shared.load(std::memory_order_relaxed) != 0) return;
  uint64_t none = 0;
  const uint64_t offered = wire::pack_sole(++offers_, ring) | wire::kSoleOffered;
  if (arena_.control().sole.compare_exchange_strong(none, offered, std::memory_order_seq_cst))
    offered_ = offered;  // (H)
}

// Gives what was offered, or takes it back.
void Drain::settle_offer(uint64_t now_ns) {
  if (offered_ == 0) return;
  wire::Control& control = arena_.control();
  uint64_t offered = std::exchange(offered_, 0);
  const uint64_t given = offered & ~wire::kSoleOffered;
  const bool is_quiet = are_others_quiet(given) && control.shares_order.load(std::memory_order_acquire) == 0;
  if (!control.sole.compare_exchange_strong(offered, is_quiet ? given : 0, std::memory_order_seq_cst) || !is_quiet)
    return;
  sole_ = given;
  writer_.gave(now_ns);
}

// Whether every ring but the one that `sole` names is outside of an event, and all that it wrote is in the books.
bool Drain::are_others_quiet(uint64_t sole) const {
  for (uint32_t i = 0; i < rings_.size(); ++i) {
    const Ring& ring = *rings_[i];
    if (!ring.is_readable || ring.decoder.has_stopped()) return false;
    if (wire::is_sole_of(sole, i)) continue;
    if (ring.in_event || ring.has_new || !ring.queue.empty()) return false;
  }
  return arena_.control().rings_claimed.load(std::memory_order_acquire) == rings_.size();
}

}  // namespace heapprof::cli
