// cli/model/judge/verdict_record.cc: see verdict_record.h.
#include "cli/model/judge/verdict_record.h"

namespace heapprof::cli {

HistoryRecord make_record(const Profile& profile, const Device& device, const Verdict& verdict,
                          const std::string& commit) {
  HistoryRecord record = make_record(profile, device, verdict.name, commit);
  record.ok = !verdict.failed();
  for (const DeviceNumbers& numbers : verdict.devices) {
    if (numbers.device != device.name) continue;
    const auto set = [&](Metric metric, const Spread& spread) {
      std::optional<uint64_t>& value = record.metrics[metric_index(metric)];
      if (value) value = spread.median;  // what the profile does not know stays unknown
    };
    set(Metric::kPeak, numbers.peak);
    set(Metric::kTotal, numbers.total);
    set(Metric::kLeaked, numbers.leaked);
    set(Metric::kAllocations, numbers.allocations);
    set(Metric::kTemporary, numbers.temporary);
  }
  return record;
}

}  // namespace heapprof::cli
