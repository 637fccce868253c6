// cli/model/history.cc: see history.h.
#include "cli/model/history.h"

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

std::string program_name(const Profile& profile) {
  const RunInfo& run = profile.run;
  const std::string& path = run.command.empty() ? run.executable : run.command[0];
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() ? "unnamed" : name;
}

}  // namespace heapprof::cli
