// cli/write/diff/diff_view.h: what a diff shows of two profiles, or of two sets of them.
//
// Guarantees
//  - All formats show the same changes; what a format marks as growth is what `--exit-code` fails on (grew()).
#pragma once

#include "cli/model/compare/diff.h"
#include "cli/model/compare/runs.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

struct DiffView {
  std::optional<Metric> sort;  // nullopt: peak and leaked, or what else changed
  std::optional<size_t> top;   // nullopt: 10 in text and Markdown, all in JSON and CSV
  bool all = false;            // also changes within the tolerance
  std::string device;          // empty: all
  bool exact_bytes = false;
  Tolerance tolerance;
};

// Two profiles. `runs` has one for each named file: if there are several, the median is compared.
struct TwoProfiles {
  BySide<const Profile*> profiles;
  BySide<std::vector<RunTotals>> runs;
  ProfileDiff diff;
};

// Sets of profiles, paired by their commands.
struct TwoSets {
  BySide<std::string> folders;  // as the user named them
  BySide<std::vector<RunTotals>> runs;
  Pairing pairing;
};

// One number of one device, before and after.
struct MetricRow {
  std::string device;
  Metric metric = Metric::kPeak;
  Change change;
  BySide<bool> is_in = {true, true};  // whether each side has the device
  Ratio noise = {0, 1};               // how much the base's runs differ, or the current's if that is more
  Tolerance tolerance;                // the view's, or the noise if it is larger

  bool is_within() const { return heapprof::cli::is_within(change, metric, tolerance); }
  bool grew() const { return is_growth(change, metric, tolerance); }
};

// A number of the resident set, before and after. It is sampled, so it has no tolerance, and never counts as growth.
struct ResidentRow {
  std::string_view label;                      // "resident at most"
  std::string_view field;                      // its key in JSON and CSV
  BySide<std::optional<uint64_t>> bytes = {};  // none: not known, or too small for a line of a report

  std::optional<Change> change() const;  // where both are known
};

// For all devices that the view shows; without metrics that a profile does not have.
std::vector<MetricRow> metric_rows(const TwoProfiles& two, const DiffView& view);
// The known numbers of the device's resident set: its maximum, its unused part, and the untouched part of large blocks.
// With several runs a side, those of the median run.
std::vector<ResidentRow> resident_rows(const TwoProfiles& two, const std::string& device);
// One row for each device and metric (that of --sort, or the peak; with `all_metrics` each) of a pair.
std::vector<MetricRow> metric_rows(const TwoSets& two, const RunPair& pair, const DiffView& view, bool all_metrics);

// Whether a metric that counts grew: that of --sort; without it peak, leaked and allocations.
bool grew(const TwoProfiles& two, const DiffView& view);
bool grew(const TwoSets& two, const DiffView& view);

// The places of one device that explain one metric's change.
struct DiffSection {
  const DeviceChange* device = nullptr;
  MetricRow row;
  std::vector<uint32_t> places;              // the most changed first
  std::vector<ChangedFrame> changed_frames;  // by place of the device (cli/model/compare/diff.h)
  size_t shown = 0;                          // the number of these shown
  size_t unchanged = 0;                      // places left out
  int64_t explained = 0;                     // sum of the shown places' changes
};
// For text and Markdown: the metric of --sort; without it peak and leaked if places changed, else what changed instead.
std::vector<DiffSection> find_sections(const TwoProfiles& two, const DiffView& view, size_t default_top);

}  // namespace heapprof::cli
