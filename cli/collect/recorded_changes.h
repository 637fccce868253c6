// cli/collect/recorded_changes.h: what sites did during a measurement, as a recording of these sites alone.
#pragma once

#include "cli/collect/questions.h"
#include "cli/collect/rings/call_tree.h"
#include "cli/collect/rings/module_map.h"
#include "cli/model/profile/recording.h"

#include <cstdint>

namespace heapprof::cli {

struct RecordedChanges {
  wire::Measure measure = wire::Measure::kPeak;
  // One device. Of its sites SiteNumbers::total_bytes and total_blocks are how much more there is, and nothing else is
  // known. Those with the most: at most kMostRecorded.
  Recording recording;
  Amount others{};  // what other sites have more
  uint64_t others_count = 0;
  Amount fewer{};  // what there is less, of sites that gave back what was live at the begin
  uint64_t fewer_count = 0;
};

inline constexpr size_t kMostRecorded = 1024;

// Fills all but Recording::run.
void record_changes(const std::vector<SiteChange>& changes, wire::Measure measure, const CallTree& tree,
                    const ModuleMap& modules, RecordedChanges* recorded);

}  // namespace heapprof::cli
