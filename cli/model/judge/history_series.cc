// cli/model/judge/history_series.cc: see history_series.h.
#include "cli/model/judge/history_series.h"

#include "cli/base/glob.h"
#include "cli/model/analysis/metrics.h"

#include <map>
#include <utility>

namespace heapprof::cli {
namespace {

// Negligible differences: a page, a handful of blocks.
constexpr uint64_t kFloorBytes = 4096;
constexpr uint64_t kFloorBlocks = 16;

struct SeriesGroup {
  std::string name;
  std::string device;
  std::vector<size_t> runs;
};

std::vector<SeriesGroup> group_entries(const std::vector<HistoryEntry>& entries, const HistoryFilter& filter) {
  std::vector<SeriesGroup> groups;
  std::map<std::pair<std::string, std::string>, size_t> known;
  for (size_t i = 0; i < entries.size(); ++i) {
    const HistoryEntry& item = entries[i];
    if (!filter.name.empty() && !glob_matches(filter.name, item.name)) continue;
    if (!filter.device.empty() && filter.device != item.device) continue;
    const auto [entry, is_new] = known.emplace(std::make_pair(item.name, item.device), groups.size());
    if (is_new) groups.push_back({item.name, item.device, {}});
    groups[entry->second].runs.push_back(i);
  }
  return groups;
}

}  // namespace

std::vector<Series> find_series(const std::vector<HistoryEntry>& entries, const HistoryFilter& filter) {
  std::vector<Series> all;
  for (const SeriesGroup& group : group_entries(entries, filter)) {
    for (const auto& [word, metric] : kMetricWords) {
      if (filter.metric && *filter.metric != metric) continue;
      Series series = {group.name, group.device, metric, {}, {}, {}};
      for (const size_t run : group.runs) {
        const std::optional<uint64_t>& value = entries[run].metrics[metric_index(metric)];
        if (!value) continue;
        series.runs.push_back(run);
        series.values.push_back(*value);
      }
      if (series.values.empty()) continue;
      series.trend_changes = find_trend(series.values, is_in_bytes(metric) ? kFloorBytes : kFloorBlocks);
      all.push_back(std::move(series));
    }
  }
  return all;
}

}  // namespace heapprof::cli
