// cli/model/judge/history.cc: see history.h.
#include "cli/model/judge/history.h"

#include "cli/model/profile/program_name.h"

namespace heapprof::cli {

HistoryEntry make_history_entry(const Profile& profile, const Device& device, const std::string& name,
                                const std::string& commit) {
  HistoryEntry entry;
  entry.time_unix_ns = profile.run.start_unix_ns;
  entry.commit = commit;
  entry.name = name;
  entry.command = profile.run.command;
  entry.device = device.name;
  const PlaceNumbers numbers = sum_of_sites(device);
  for (const MetricField& it : kMetricFields) {
    const bool is_known = has_metric(profile, it.metric) && (profile.merged.empty() || !it.is_of_moment);
    if (is_known) entry.metrics[metric_index(it.metric)] = numbers.metric(it.metric);
  }
  return entry;
}

std::string history_name(const Profile& profile) {
  std::string name = program_name(profile.run.command);
  if (name.empty()) name = base_name(profile.run.executable);
  return name.empty() ? "unnamed" : name;
}

}  // namespace heapprof::cli
