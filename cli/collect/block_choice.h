// cli/collect/block_choice.h: which blocks of a process are recorded, as long as it runs.
//
// The agent reads it in the arena, before each block (agent/record/sampling.h). The books are told before the agent is:
// once not every block is recorded, an end that nobody knows is as good as none.
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
  // The agent is not there yet.
  BlockChoice(Arena* arena, Ledger* ledger, const RecordedBlocks& recorded, bool is_paused);

  // As ProcessCollector's.
  bool set_recorded(const RecordedBlocks& recorded);
  void pause();
  void resume();

  // Somebody waits until the program sets a mark of that name; empty: nobody does.
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
  bool recorded_all_ = false;  // at some time, so the end of any block may matter
  bool has_chosen_ = false;
  uint64_t unrecorded_ns_ = 0;  // how long nothing was recorded, before
  uint64_t paused_at_ns_ = 0;   // 0: it is not paused
  std::atomic<bool> has_met_mark_{false};
};

}  // namespace heapprof::cli
