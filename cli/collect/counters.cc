// cli/collect/counters.cc: see counters.h.
#include "cli/collect/counters.h"

#include <algorithm>
#include <atomic>

namespace heapprof::cli {

Counters counters_of(const LedgerCounts& counts, const wire::Control& control, UnknownEnds unknown) {
  Counters counters;
  counters.allocations = counts.allocations;
  counters.frees = counts.frees;
  counters.reallocs = counts.reallocs;
  counters.failed_reallocs = counts.failed_reallocs;
  counters.reordered = counts.reordered;
  if (unknown == UnknownEnds::kMeaningless) counters.frees -= std::min(counters.frees, counts.foreign);
  if (unknown == UnknownEnds::kForeign) counters.foreign_frees = counts.foreign;
  if (unknown == UnknownEnds::kInherited) counters.inherited_frees = counts.foreign;
  counters.unseen_frees = counts.unseen_frees;
  // In a sampled process the name may belong to a block that was not chosen.
  if (unknown != UnknownEnds::kMeaningless) counters.unmatched_names = counts.unmatched_names;
  counters.left_out = counts.left_out.blocks;
  counters.left_out_bytes = counts.left_out.bytes;
  counters.left_out_ended = counts.left_out_ended;
  counters.abandoned = control.events_abandoned.load(std::memory_order_relaxed);
  counters.modules_lost = control.modules_lost.load(std::memory_order_relaxed);
  const uint32_t notes = control.notes_claimed.load(std::memory_order_relaxed);
  counters.notes_lost = notes > wire::kMaxNotes ? notes - wire::kMaxNotes : 0;
  counters.python_broken = control.python_broken.load(std::memory_order_relaxed);
  counters.codes_lost = control.codes_lost.load(std::memory_order_relaxed);
  counters.tensors_refused = control.tensors_refused.load(std::memory_order_relaxed);
  counters.operators_lost = control.operators_lost.load(std::memory_order_relaxed);
  counters.verify_checked = control.verify_checked.load(std::memory_order_relaxed);
  counters.verify_mismatched = control.verify_mismatched.load(std::memory_order_relaxed);
  counters.verify_skipped = control.verify_skipped.load(std::memory_order_relaxed);
  return counters;
}

std::string what_is_missing(const Counters& counters, wire::StopReason stop, bool is_detached,
                            bool has_unreadable_rings, bool is_attached, const std::string& own_reason) {
  std::string reasons;
  const auto add = [&reasons](const std::string& reason) { reasons += (reasons.empty() ? "" : "; ") + reason; };
  if (!own_reason.empty()) add(own_reason);
  if (!is_attached) add("the agent could not map the shared memory (a limit on descriptors or address space)");
  if (counters.corrupt_records != 0) add(wire::stop_reason_text(wire::StopReason::kCorruptRing));
  if (has_unreadable_rings) add("the collector had no address space left for a ring");
  if (is_detached && own_reason.empty()) add(wire::stop_reason_text(wire::StopReason::kDetached));
  if (stop != wire::StopReason::kNone && stop != wire::StopReason::kLeft &&
      !(is_detached && stop == wire::StopReason::kDetached))
    add(wire::stop_reason_text(stop));
  if (counters.lost != 0) add("events were lost");
  return reasons;
}

}  // namespace heapprof::cli
