// cli/write/diff/diff_view.h: what a diff shows of two profiles, or of two sets of them.
//
// Guarantees
//  - All formats show the same changes, and the same numbers as grown. `--exit-code` fails if one of them counts
//    (grew()).
#pragma once

#include "cli/model/compare/diff.h"
#include "cli/model/compare/runs.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

struct DiffView {
  std::optional<Metric> sort;  // nullopt: peak and leaked; if neither total changed, also the others that did
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
  BySide<std::optional<uint64_t>> bytes = {};  // nullopt: unknown, or too small for a report to show

  std::optional<Change> change() const;  // nullopt unless both are known
};

// The rows of all devices that the view shows, without metrics that one of the profiles lacks.
std::vector<MetricRow> metric_rows(const TwoProfiles& two, const DiffView& view);
// The known numbers of the device's resident set: its maximum, its unused part, and the untouched part of large blocks.
// If a side has several runs, the numbers are those of its median run.
std::vector<ResidentRow> resident_rows(const TwoProfiles& two, const std::string& device);
// The rows of one pair: for each device, the metric of --sort, or without --sort the peak (the total if a profile has
// no lifetimes). With `all_metrics`, a row for every metric.
std::vector<MetricRow> metric_rows(const TwoSets& two, const RunPair& pair, const DiffView& view, bool all_metrics);

// Whether a metric that counts grew. With --sort only that metric counts; without it, peak, leaked and allocations do.
bool grew(const TwoProfiles& two, const DiffView& view);
bool grew(const TwoSets& two, const DiffView& view);

// The places of one device that explain one metric's change.
struct DiffSection {
  const DeviceChange* device = nullptr;
  MetricRow row;
  std::vector<uint32_t> places;              // the most changed first
  std::vector<ChangedFrame> changed_frames;  // by index of the device's places (cli/model/compare/diff.h)
  size_t shown = 0;                          // how many of `places` are shown
  size_t unchanged = 0;                      // places within the tolerance, not listed
  int64_t explained = 0;                     // sum of the shown places' changes
};
// The sections of text and Markdown: with --sort, those of that metric. Without it, those of peak and leaked in which
// places changed; if none of these totals changed, also those of the other metrics whose total changed.
std::vector<DiffSection> find_sections(const TwoProfiles& two, const DiffView& view, size_t default_top);

}  // namespace heapprof::cli
