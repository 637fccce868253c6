// cli/model/judge/history.cc: see history.h.
#include "cli/model/judge/history.h"

#include "cli/model/profile/program_name.h"

namespace heapprof::cli {

const std::array<std::string_view, 5> kHistoryMetricKeys = {"peak_bytes", "total_bytes", "leaked_bytes",
                                                            "allocations_count", "temporary_count"};

HistoryRecord make_record(const Profile& profile, const Device& device, const std::string& name,
                          const std::string& commit) {
  HistoryRecord record;
  record.time_unix_ns = profile.run.start_unix_ns;
  record.commit = commit;
  record.name = name;
  record.command = profile.run.command;
  record.device = device.name;
  const PlaceNumbers numbers = sum_of_sites(device);
  const auto set = [&](Metric metric) { record.metrics[metric_index(metric)] = numbers.metric(metric); };
  set(Metric::kTotal);
  set(Metric::kAllocations);
  if (profile.has_lifetimes) set(Metric::kLeaked);
  if (profile.has_lifetimes && profile.merged.empty()) set(Metric::kPeak);
  if (profile.dialect == Dialect::kHeapprof) set(Metric::kTemporary);
  return record;
}

std::string record_name(const Profile& profile) {
  std::string name = program_name(profile.run.command);
  if (name.empty()) name = base_name(profile.run.executable);
  return name.empty() ? "unnamed" : name;
}

}  // namespace heapprof::cli
