// cli/model/judge/verdict_entry.cc: see verdict_entry.h.
#include "cli/model/judge/verdict_entry.h"

namespace heapprof::cli {

HistoryEntry make_history_entry(const Profile& profile, const Device& device, const Verdict& verdict,
                                const std::string& commit) {
  HistoryEntry entry = make_history_entry(profile, device, verdict.name, commit);
  entry.ok = !verdict.failed();
  for (const DeviceNumbers& numbers : verdict.devices) {
    if (numbers.device != device.name) continue;
    for (const Metric metric : kMetrics) {
      std::optional<uint64_t>& value = entry.metrics[metric_index(metric)];
      if (value) value = numbers[metric].median;  // numbers that the profile lacks stay unknown
    }
  }
  return entry;
}

}  // namespace heapprof::cli
