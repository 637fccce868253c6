// cli/collect/block_choice.cc: passes the choice to the agent, and keeps count of what was passed.
//
// Earlier choices decide which ends the agent has to record: if all blocks were recorded at any time, the end of any
// block may matter for as long as the process lives.
#include "cli/collect/block_choice.h"

#include "cli/base/clock.h"
#include "cli/collect/recorded_scopes.h"
#include "cli/model/analysis/sampling.h"

#include <sys/random.h>

#include <algorithm>

namespace heapprof::cli {

static_assert(wire::kLeastInterval == kLeastIntervalBytes && wire::kMostInterval == kMostIntervalBytes);

BlockChoice::BlockChoice(Arena* arena, Ledger* ledger, const RecordedBlocks& recorded, bool is_paused)
    : arena_(*arena), ledger_(*ledger), recorded_(recorded) {
  uint64_t& seed = arena->sampling().seed;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) seed = monotonic_ns();
  if (recorded.interval_bytes != 0) rates_.add(recorded.interval_bytes);
  if (is_paused) {
    pause();
  } else {
    resume();
  }
}

bool BlockChoice::set_recorded(const RecordedBlocks& recorded) {
  if (recorded.interval_bytes != 0 && !rates_.add(recorded.interval_bytes)) return false;
  recorded_ = recorded;
  resume();
  return true;
}

void BlockChoice::pause() {
  if (paused_at_ns_ == 0) paused_at_ns_ = monotonic_ns();
  tell(wire::Begins::kNone);
}

void BlockChoice::resume() {
  if (paused_at_ns_ != 0) unrecorded_ns_ += monotonic_ns() - paused_at_ns_;
  paused_at_ns_ = 0;
  if (recorded_.interval_bytes == 0) return tell(wire::Begins::kAll);
  arena_.sampling().interval_bytes.store(recorded_.interval_bytes, std::memory_order_relaxed);
  tell(wire::Begins::kSampled);
}

// begins: which blocks that begin are recorded from now on. Which ends are recorded follows from all choices so far.
void BlockChoice::tell(wire::Begins begins) {
  recorded_all_ |= begins == wire::Begins::kAll;
  has_chosen_ |= begins == wire::Begins::kSampled;
  if (begins != wire::Begins::kAll) {
    arena_.sampling().orders_stamps.store(1, std::memory_order_relaxed);
    ledger_.set_sampled(&rates_);
  }
  const wire::Ends ends = recorded_all_ ? wire::Ends::kAll : has_chosen_ ? wire::Ends::kMarked : wire::Ends::kNone;
  arena_.sampling().recording.store(wire::pack_recording(begins, ends), std::memory_order_release);
}

// The callback runs in the thread that applies the events, which may be the second one.
void BlockChoice::await_mark(const std::string& name) {
  if (name.empty()) return;
  ledger_.set_on_mark([this, name](uint32_t number) {
    if (name_of(number, arena_.names()).text == name) has_met_mark_.store(true, std::memory_order_relaxed);
  });
}

UnknownEnds BlockChoice::unknown_ends(bool inherits) const {
  if (has_chosen_) return UnknownEnds::kMeaningless;
  const bool was_paused = unrecorded_ns_ != 0 || paused_at_ns_ != 0;
  return inherits || was_paused ? UnknownEnds::kInherited : UnknownEnds::kForeign;
}

Sampling BlockChoice::result(const Amount& counted_down, uint64_t duration_ns) const {
  const LedgerCounts& counts = ledger_.counts();
  Sampling sampling;
  sampling.interval_bytes = rates_.largest_bytes();
  sampling.chosen = counts.chosen;
  if (sampling.is_sampled()) {
    const Amount total = ledger_.sites().total();
    sampling.counted = counted_down.blocks + total.blocks - counts.chosen_for.blocks;
    sampling.counted_bytes = counted_down.bytes + total.bytes - counts.chosen_for.bytes;
  }
  const uint64_t now_ns = paused_at_ns_ == 0 ? 0 : monotonic_ns() - paused_at_ns_;
  sampling.unrecorded_ns = std::min(unrecorded_ns_ + now_ns, duration_ns);
  return sampling;
}

}  // namespace heapprof::cli
