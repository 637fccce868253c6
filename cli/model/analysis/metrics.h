// cli/model/analysis/metrics.h: the metrics by which sites and places are ranked, limited and tracked: one line each.
//
// Words of flags and budgets, names in JSON, CSV and histories, units, and the uses of each metric follow from
// kMetricFields. To add a metric, add a line there; its meaning is in man/heapprof.7. scripts/check-help checks
// completions and pages against the words.
#pragma once

#include "cli/model/profile/site_fields.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace heapprof::cli {

enum class Metric { kPeak, kTotal, kLeaked, kAllocations, kTemporary };

struct MetricField {
  enum class Unit { kBytes, kBlocks };

  Metric metric;
  const char* word;  // of --sort, of --max-WORD, and of budgets
  uint64_t SiteNumbers::*number;
  Unit unit;
  int rank;             // the order if several are shown
  const char* verb;     // what a function with much of it did
  bool is_of_moment;    // it belongs to one moment, so a sum of profiles does not have it
  bool is_growth;       // `diff --exit-code` fails if it grew, unless another metric is asked for
  bool has_baseline;    // `check` compares it with a baseline
  const char* meaning;  // a sentence
  const char* limit;    // of --max-WORD, for --help
};

inline constexpr std::array kMetricFields = {
    MetricField{Metric::kPeak, "peak", &SiteNumbers::peak_bytes, MetricField::Unit::kBytes, 0, "holds", true, true,
                true, "Requested bytes live at the peak.", "most live at once, such as host=512MiB"},
    MetricField{Metric::kTotal, "total", &SiteNumbers::total_bytes, MetricField::Unit::kBytes, 2, "allocated", false,
                false, true, "Requested bytes allocated in all.", "most allocated, all in all"},
    MetricField{Metric::kLeaked, "leaked", &SiteNumbers::leaked_bytes, MetricField::Unit::kBytes, 1, "left", false,
                true, true, "Requested bytes live at the end.", "most still live at the end"},
    MetricField{Metric::kAllocations, "allocations", &SiteNumbers::total_blocks, MetricField::Unit::kBlocks, 3, "made",
                false, true, true, "Blocks allocated.", "most blocks allocated"},
    MetricField{Metric::kTemporary, "temporary", &SiteNumbers::temporary_blocks, MetricField::Unit::kBlocks, 4, "made",
                false, false, false, "Blocks freed before the next allocation.",
                "most temporary blocks, or 60% of all"},
};

constexpr size_t metric_index(Metric metric) { return static_cast<size_t>(metric); }
constexpr const MetricField& metric_field_of(Metric metric) { return kMetricFields[metric_index(metric)]; }

constexpr const char* metric_word(Metric metric) { return metric_field_of(metric).word; }
// Bytes, or a number of blocks.
constexpr bool is_in_bytes(Metric metric) { return metric_field_of(metric).unit == MetricField::Unit::kBytes; }

// The metric's line in the list of per-site numbers.
constexpr const SiteField& site_field_of(Metric metric) {
  size_t at = 0;
  while (kSiteFields[at].number != metric_field_of(metric).number) ++at;
  return kSiteFields[at];
}
// "peak_bytes", as JSON, CSV and histories name it.
constexpr std::string_view metric_field(Metric metric) { return site_field_of(metric).report; }

// In the order in which they are shown.
inline constexpr auto kMetrics = [] {
  std::array<Metric, kMetricFields.size()> shown{};
  for (const MetricField& it : kMetricFields) shown[static_cast<size_t>(it.rank)] = it.metric;
  return shown;
}();

// The words that users type, in the order in which pages list them.
inline constexpr auto kMetricWords = [] {
  std::array<std::pair<const char*, Metric>, kMetricFields.size()> words{};
  for (size_t i = 0; i < words.size(); ++i) words[i] = {kMetricFields[i].word, kMetricFields[i].metric};
  return words;
}();

static_assert([] {
  for (size_t i = 0; i < kMetricFields.size(); ++i) {
    if (metric_index(kMetricFields[i].metric) != i || metric_field(kMetricFields[i].metric).empty()) return false;
  }
  return true;
}());

// Whether the profile's dialect and mode have it: only heapprof counts temporary blocks; without lifetimes there are
// only totals.
bool has_metric(const Profile& profile, Metric metric);
bool has_numbers(const Profile& profile, SiteField::Needs needs);

}  // namespace heapprof::cli
