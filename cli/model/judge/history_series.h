// cli/model/judge/history_series.h: the entries of a history as series: one for each name, device and metric.
#pragma once

#include "cli/model/judge/history.h"
#include "cli/model/judge/trend.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct HistoryFilter {
  std::string name;    // a glob with * and ?; empty: all
  std::string device;  // empty: all
  std::optional<Metric> metric;
};

struct Series {
  std::string name;
  std::string device;
  Metric metric = Metric::kPeak;
  std::vector<size_t> runs;  // indexes of the entries, in the order of the file
  std::vector<uint64_t> values;
  std::vector<TrendChange> trend_changes;
};

// Names and devices in the order of their first entry; metrics in the order of their words. Series without a value are
// left out.
std::vector<Series> find_series(const std::vector<HistoryEntry>& entries, const HistoryFilter& filter);

}  // namespace heapprof::cli
