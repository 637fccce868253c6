// cli/model/judge/history.cc: see history.h.
#include "cli/model/judge/history.h"

#include "cli/model/profile/program_name.h"

namespace heapprof::cli {

const std::array<std::string_view, 5> kHistoryMetricKeys = {"peak_bytes", "total_bytes", "leaked_bytes",
                                                            "allocations_count", "temporary_count"};

HistoryEntry make_history_entry(const Profile& profile, const Device& device, const std::string& name,
                                const std::string& commit) {
  HistoryEntry entry;
  entry.time_unix_ns = profile.run.start_unix_ns;
  entry.commit = commit;
  entry.name = name;
  entry.command = profile.run.command;
  entry.device = device.name;
  const PlaceNumbers numbers = sum_of_sites(device);
  const auto set = [&](Metric metric) { entry.metrics[metric_index(metric)] = numbers.metric(metric); };
  set(Metric::kTotal);
  set(Metric::kAllocations);
  if (profile.has_lifetimes) set(Metric::kLeaked);
  if (profile.has_lifetimes && profile.merged.empty()) set(Metric::kPeak);
  if (profile.dialect == Dialect::kHeapprof) set(Metric::kTemporary);
  return entry;
}

std::string history_name(const Profile& profile) {
  std::string name = program_name(profile.run.command);
  if (name.empty()) name = base_name(profile.run.executable);
  return name.empty() ? "unnamed" : name;
}

}  // namespace heapprof::cli
