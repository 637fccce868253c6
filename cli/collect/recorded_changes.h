// cli/collect/recorded_changes.h: the sites' changes during a measurement, as a recording of these sites alone.
#pragma once

#include "cli/collect/questions.h"
#include "cli/collect/rings/call_tree.h"
#include "cli/collect/rings/module_map.h"
#include "cli/model/profile/recording.h"

#include <cstdint>

namespace heapprof::cli {

struct RecordedChanges {
  wire::Measure measure = wire::Measure::kPeak;
  // One device, with at most kMostRecorded sites, those that grew most. Only their SiteNumbers::total_bytes and
  // total_blocks are set: the growth.
  Recording recording;
  Amount others{};  // the growth of the other sites
  uint64_t others_count = 0;
  Amount fewer{};  // the decrease at sites that freed what was live at the begin
  uint64_t fewer_count = 0;
};

inline constexpr size_t kMostRecorded = 1024;

// Fills all but Recording::run.
void record_changes(const std::vector<SiteChange>& changes, wire::Measure measure, const CallTree& tree,
                    const ModuleMap& modules, RecordedChanges* recorded);

}  // namespace heapprof::cli
