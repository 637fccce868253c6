// cli/collect/block_choice.h: which blocks of a process are recorded, at each moment of its run.
//
// The agent reads the choice in the arena before each block (agent/record/sampling.h). The books learn of it before the
// agent does: once not every block is recorded, an end without a known begin means nothing.
//
// Context:  the collector's thread, between two rounds.
#pragma once

#include "cli/collect/arena.h"
#include "cli/collect/books/ledger.h"
#include "cli/collect/counters.h"
#include "cli/collect/recorded_blocks.h"
#include "cli/collect/rings/sample_rates.h"
#include "cli/model/profile/run.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace heapprof::cli {

class BlockChoice {
 public:
  // pre: the agent has not been answered yet
  BlockChoice(Arena* arena, Ledger* ledger, const RecordedBlocks& recorded, bool is_paused);

  // As ProcessCollector's.
  bool set_recorded(const RecordedBlocks& recorded);
  void pause();
  void resume();

  // Watches for a mark of that name, which the launcher waits for. If the name is empty, the launcher waits for no
  // mark.
  void await_mark(const std::string& name);
  bool has_met_mark() const { return has_met_mark_.load(std::memory_order_relaxed); }

  const SampleRates& rates() const { return rates_; }
  UnknownEnds unknown_ends(bool inherits) const;
  // counted_down: of the rings (Drain)
  Sampling result(const Amount& counted_down, uint64_t duration_ns) const;

 private:
  void tell(wire::Begins begins);

  Arena& arena_;
  Ledger& ledger_;
  SampleRates rates_;
  RecordedBlocks recorded_;
  bool recorded_all_ = false;  // all blocks were recorded at some time, so the end of any block may matter
  bool has_chosen_ = false;
  uint64_t unrecorded_ns_ = 0;  // how long nothing was recorded, before
  uint64_t paused_at_ns_ = 0;   // 0: it is not paused
  std::atomic<bool> has_met_mark_{false};
};

}  // namespace heapprof::cli
