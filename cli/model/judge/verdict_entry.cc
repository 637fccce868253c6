// cli/model/judge/verdict_entry.cc: see verdict_entry.h.
#include "cli/model/judge/verdict_entry.h"

namespace heapprof::cli {

HistoryEntry make_history_entry(const Profile& profile, const Device& device, const Verdict& verdict,
                                const std::string& commit) {
  HistoryEntry entry = make_history_entry(profile, device, verdict.name, commit);
  entry.ok = !verdict.failed();
  for (const DeviceNumbers& numbers : verdict.devices) {
    if (numbers.device != device.name) continue;
    const auto set = [&](Metric metric, const Spread& spread) {
      std::optional<uint64_t>& value = entry.metrics[metric_index(metric)];
      if (value) value = spread.median;  // what the profile does not know stays unknown
    };
    set(Metric::kPeak, numbers.peak);
    set(Metric::kTotal, numbers.total);
    set(Metric::kLeaked, numbers.leaked);
    set(Metric::kAllocations, numbers.allocations);
    set(Metric::kTemporary, numbers.temporary);
  }
  return entry;
}

}  // namespace heapprof::cli
