// cli/collect/books/device_holdings.cc: see device_holdings.h.
#include "cli/collect/books/device_holdings.h"

#include "cli/base/saturating.h"

#include <algorithm>

namespace heapprof::cli {

namespace {

// Whether a query was made earlier than another one. Their numbers wrap around.
bool is_earlier(uint32_t sequence, uint32_t other) {
  const uint32_t behind = (other - sequence) % wire::kHoldingSequences;
  return behind != 0 && behind < wire::kHoldingSequences / 2;
}

}  // namespace

void DeviceHoldings::take(uint64_t object, uint64_t most_bytes) {
  Amount& amount = amounts_[wire::holding_of(object)];
  const uint32_t sequence = wire::holding_sequence(object);
  const uint64_t bytes = wire::held_plus_one(object) - 1;
  amount.most_bytes = std::max({amount.most_bytes, most_bytes, bytes});
  is_partial_ = is_partial_ || wire::is_partial_holding(object);
  if (amount.is_known && is_earlier(sequence, amount.sequence)) return;
  amount.bytes = bytes;
  amount.sequence = sequence;
  amount.is_known = true;
  note_idle();
}

void DeviceHoldings::use_pool(uint64_t size_bytes) {
  used_bytes_ = add_saturating(used_bytes_, size_bytes);
  used_most_bytes_ = std::max(used_most_bytes_, used_bytes_);
}

void DeviceHoldings::leave_pool(uint64_t size_bytes) {
  used_bytes_ -= std::min(used_bytes_, size_bytes);
  note_idle();
}

void DeviceHoldings::note_idle() {
  const uint64_t held_bytes = amounts_[static_cast<size_t>(wire::Holding::kPools)].bytes;
  if (held_bytes > used_bytes_) idle_most_bytes_ = std::max(idle_most_bytes_, held_bytes - used_bytes_);
}

HeldMemory DeviceHoldings::memory() const {
  const auto of = [this](wire::Holding holding) -> const Amount& { return amounts_[static_cast<size_t>(holding)]; };
  HeldMemory memory;
  memory.pools_bytes = of(wire::Holding::kPools).bytes;
  memory.pools_peak_bytes = of(wire::Holding::kPools).most_bytes;
  memory.pools_used_bytes = used_bytes_;
  memory.pools_used_peak_bytes = used_most_bytes_;
  memory.pools_idle_peak_bytes = idle_most_bytes_;
  memory.graphs_bytes = of(wire::Holding::kGraphsReserved).bytes;
  memory.graphs_peak_bytes = of(wire::Holding::kGraphsReserved).most_bytes;
  memory.graphs_used_bytes = of(wire::Holding::kGraphsUsed).bytes;
  memory.graphs_used_peak_bytes = of(wire::Holding::kGraphsUsed).most_bytes;
  memory.is_partial = is_partial_;
  return memory;
}

}  // namespace heapprof::cli
