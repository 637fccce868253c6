// cli/model/analysis/metrics.cc: see metrics.h.
#include "cli/model/analysis/metrics.h"

namespace heapprof::cli {

std::string_view metric_field(Metric metric) {
  switch (metric) {
    case Metric::kPeak: return "peak_bytes";
    case Metric::kTotal: return "total_bytes";
    case Metric::kLeaked: return "leaked_bytes";
    case Metric::kAllocations: return "allocations_count";
    case Metric::kTemporary: return "temporary_count";
  }
  return "";
}

bool has_metric(const Profile& profile, Metric metric) {
  switch (metric) {
    case Metric::kPeak:
    case Metric::kLeaked: return profile.has_lifetimes;
    case Metric::kTemporary: return profile.dialect == Dialect::kHeapprof;
    case Metric::kTotal:
    case Metric::kAllocations: return true;
  }
  return true;
}

}  // namespace heapprof::cli
