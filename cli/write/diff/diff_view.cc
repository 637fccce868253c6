// cli/write/diff/diff_view.cc: what all formats of a diff share: which rows there are, and what counts as growth.
//
// A test that reads JSON and a person who reads text must get the same answer, and the exit status has to agree. So
// growth is decided here once, and the formats only show it. Noise between runs of one side widens the tolerance: if
// two builds differ by less than two runs of the same build, the difference says nothing.
#include "cli/write/diff/diff_view.h"

#include <algorithm>
#include <iterator>

namespace heapprof::cli {
namespace {

__extension__ using Wide = unsigned __int128;

bool is_larger(const Ratio& a, const Ratio& b) {
  return Wide{a.part} * std::max<uint64_t>(b.whole, 1) > Wide{b.part} * std::max<uint64_t>(a.whole, 1);
}

int64_t add_change(int64_t sum, const Change& change) {
  __extension__ using WideSigned = __int128;
  const WideSigned all = WideSigned{sum} + WideSigned{change.current} - WideSigned{change.base};
  return static_cast<int64_t>(std::clamp<WideSigned>(all, -INT64_MAX, INT64_MAX));
}

MetricRow make_row(const BySide<std::vector<RunTotals>>& runs, const std::string& device, Metric metric,
                   const DiffView& view) {
  MetricRow row;
  row.device = device;
  row.metric = metric;
  row.tolerance = view.tolerance;
  for (const Side side : kSides) {
    const Ratio noise = find_noise(runs[side], device, metric);
    if (is_larger(noise, row.noise)) row.noise = noise;
  }
  uint64_t& slack = is_in_bytes(metric) ? row.tolerance.slack_bytes : row.tolerance.slack_blocks;
  slack = std::max(slack, row.noise.part);
  return row;
}

bool has_metric(const RunTotals& run, Metric metric) {
  Profile kind;
  kind.dialect = run.dialect;
  kind.has_lifetimes = run.has_lifetimes;
  return has_metric(kind, metric);
}

bool has_device(const RunTotals& run, const std::string& name) {
  return std::any_of(run.devices.begin(), run.devices.end(), [&](const auto& device) { return device.first == name; });
}

bool counts(Metric metric, const DiffView& view) {
  if (view.sort) return metric == *view.sort;
  return metric_field_of(metric).is_growth;
}

bool any_grew(const std::vector<MetricRow>& rows, const DiffView& view) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const MetricRow& row) { return counts(row.metric, view) && row.grew(); });
}

}  // namespace

std::vector<MetricRow> metric_rows(const TwoProfiles& two, const DiffView& view) {
  std::vector<MetricRow> rows;
  for (const DeviceChange& device : two.diff.devices) {
    if (!view.device.empty() && view.device != device.name) continue;
    for (const Metric metric : kMetrics) {
      if (!has_metric(*two.profiles[kBase], *two.profiles[kCurrent], metric)) continue;
      MetricRow& row = rows.emplace_back(make_row(two.runs, device.name, metric, view));
      row.change = device.change(metric);
      row.is_in = device.is_in;
    }
  }
  return rows;
}

std::optional<Change> ResidentRow::change() const {
  if (!bytes[kBase] || !bytes[kCurrent]) return std::nullopt;
  return Change{*bytes[kBase], *bytes[kCurrent]};
}

std::vector<ResidentRow> resident_rows(const TwoProfiles& two, const std::string& device) {
  std::vector<ResidentRow> rows = {{"resident at most", "rss_max_bytes", {}},
                                   {"resident, unused", "unused_resident_bytes", {}},
                                   {"not touched", "untouched_bytes", {}}};
  for (const Side side : kSides) {
    for (const Device& it : two.profiles[side]->devices) {
      if (it.name != device) continue;
      if (it.totals.resident_max_bytes != 0) rows[0].bytes[side] = it.totals.resident_max_bytes;
      if (it.fragmentation.is_worth_a_line()) rows[1].bytes[side] = it.fragmentation.unused_bytes();
      if (it.untouched.is_worth_a_line()) rows[2].bytes[side] = it.untouched.untouched_bytes;
    }
  }
  std::erase_if(rows, [](const ResidentRow& row) { return !row.bytes[kBase] && !row.bytes[kCurrent]; });
  return rows;
}

std::vector<MetricRow> metric_rows(const TwoSets& two, const RunPair& pair, const DiffView& view, bool all_metrics) {
  BySide<std::vector<RunTotals>> runs;
  for (const size_t i : pair.base) runs[kBase].push_back(two.runs[kBase][i]);
  for (const size_t i : pair.current) runs[kCurrent].push_back(two.runs[kCurrent][i]);
  BySide<RunTotals> medians;
  for (const Side side : kSides) medians[side] = runs[side][median_run(runs[side])];
  std::vector<std::string> devices;
  for (const RunTotals& run : medians) {
    for (const auto& [name, numbers] : run.devices) {
      const bool is_known = std::find(devices.begin(), devices.end(), name) != devices.end();
      if (!is_known && (view.device.empty() || view.device == name)) devices.push_back(name);
    }
  }
  const bool has_peak = medians[kBase].has_lifetimes && medians[kCurrent].has_lifetimes;
  const Metric one = view.sort.value_or(has_peak ? Metric::kPeak : Metric::kTotal);
  std::vector<MetricRow> rows;
  for (const std::string& device : devices) {
    for (const Metric metric : kMetrics) {
      if (!(all_metrics || metric == one) || !has_metric(medians[kBase], metric) ||
          !has_metric(medians[kCurrent], metric))
        continue;
      MetricRow& row = rows.emplace_back(make_row(runs, device, metric, view));
      row.change = {numbers_on(medians[kBase], device).metric(metric),
                    numbers_on(medians[kCurrent], device).metric(metric)};
      for (const Side side : kSides) row.is_in[side] = has_device(medians[side], device);
    }
  }
  return rows;
}

bool grew(const TwoProfiles& two, const DiffView& view) { return any_grew(metric_rows(two, view), view); }

bool grew(const TwoSets& two, const DiffView& view) {
  return std::any_of(two.pairing.pairs.begin(), two.pairing.pairs.end(),
                     [&](const RunPair& pair) { return any_grew(metric_rows(two, pair, view, true), view); });
}

namespace {

DiffSection make_section(const DeviceChange& device, const MetricRow& row, const DiffView& view, size_t default_top) {
  DiffSection section;
  section.device = &device;
  section.row = row;
  const std::vector<uint32_t> all = rank_all_changes(device, row.metric);
  section.places = view.all ? all : rank_changes(device, row.metric, view.tolerance);
  const size_t most = view.top ? *view.top : view.all ? section.places.size() : default_top;
  section.shown = std::min(section.places.size(), most);
  const auto has_some = [&](const PlaceChange& place) {
    return place.change(row.metric).base > 0 || place.change(row.metric).current > 0;
  };
  const auto with_some = static_cast<size_t>(std::count_if(device.places.begin(), device.places.end(), has_some));
  section.unchanged = with_some - section.places.size();
  for (size_t i = 0; i < section.shown; ++i) {
    const Change change = device.places[section.places[i]].change(row.metric);
    section.explained = add_change(section.explained, change);
  }
  return section;
}

}  // namespace

std::vector<DiffSection> find_sections(const TwoProfiles& two, const DiffView& view, size_t default_top) {
  std::vector<DiffSection> sections;
  std::vector<DiffSection> others;
  for (const MetricRow& row : metric_rows(two, view)) {
    if (view.sort && row.metric != *view.sort) continue;
    const auto device = std::find_if(two.diff.devices.begin(), two.diff.devices.end(),
                                     [&](const DeviceChange& it) { return it.name == row.device; });
    DiffSection section = make_section(*device, row, view, default_top);
    if (section.places.empty()) continue;
    section.changed_frames = find_changed_frames(two.profiles, two.diff.trees, *device, row.metric);
    const bool is_first = view.sort || row.metric == Metric::kPeak || row.metric == Metric::kLeaked;
    if (is_first) {
      sections.push_back(std::move(section));
    } else if (!row.is_within()) {
      others.push_back(std::move(section));
    }
  }
  // If no total of these sections changed (in a peak, places may only have taken turns), the metrics whose total did
  // change are shown, too.
  const bool is_explained = std::any_of(sections.begin(), sections.end(),
                                        [](const DiffSection& section) { return !section.row.is_within(); });
  if (!is_explained) std::move(others.begin(), others.end(), std::back_inserter(sections));
  return sections;
}

}  // namespace heapprof::cli
