// cli/model/analysis/metrics.h: which metrics there are, in what order they are shown, and which a profile has.
#pragma once

#include "cli/model/analysis/metric_words.h"
#include "cli/model/analysis/places.h"

#include <array>
#include <string_view>

namespace heapprof::cli {

inline constexpr std::array<Metric, 5> kMetrics = {Metric::kPeak, Metric::kLeaked, Metric::kTotal, Metric::kAllocations,
                                                   Metric::kTemporary};

std::string_view metric_field(Metric metric);  // "peak_bytes", as JSON and CSV name it

// What the profile's dialect and mode can tell: only ours counts temporary blocks; without lifetimes there are only
// totals.
bool has_metric(const Profile& profile, Metric metric);

}  // namespace heapprof::cli
