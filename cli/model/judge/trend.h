// cli/model/judge/trend.h: detects steps and drifts in a series of numbers.
//
// Noise is measured two ways: how far runs are from the median of their window (1.4826 × the median absolute
// deviation), and how far apart neighbours are (the seventieth percentile of |x[i+1] − x[i]| / 1.0364 / √2). The larger
// counts. The first measure prevents a slope from counting as a step. The second prevents three runs that happen to
// agree from counting as a quiet series.
//
// There is a step before run i if three conditions hold for two windows: the runs before i (three to ten), and the runs
// from i on (at most ten, up to the next step):
//   - the medians differ by more than 4 × the noise (8 × while fewer than three runs followed), more than 1 % and more
//     than the floor;
//   - three quarters of the runs after lie beyond three quarters of the runs before;
//   - the runs are nearer, by a quarter or more, to the two medians than to a straight line through the middles of both
//     windows.
// If several neighbouring runs qualify, the one that explains most is chosen: it leaves the smallest sum of distances
// to the two medians. Then both sides are searched in the same way.
//
// A drift is a stretch of ten runs or more without a step. The medians of its first and last five runs (a third of the
// runs, if there are fewer than fifteen) differ by more than 4 × the noise, 3 % and the floor. Also, most pairs of runs
// agree on the direction (Kendall's tau at least 0.5).
//
// Not provided: an alarm for a single outlier followed by ordinary runs; seasonal patterns; several metrics at once.
// Cost:     quadratic in the runs of a stretch, limited to the last thousand: < 10 ms a series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

struct TrendChange {
  enum class Kind { kStep, kDrift };
  Kind kind = Kind::kStep;
  size_t first = 0;             // step: the first run after it; drift: the first run of the stretch
  size_t last = 0;              // step: the last run of the window after it; drift: of the stretch
  uint64_t before = 0;          // median of the runs before
  uint64_t after = 0;           // median of the runs after
  bool is_confirmed = true;     // a step that at least three runs show
  uint64_t largest_single = 0;  // for a drift: the largest difference between two neighbouring runs
};

// The trend changes in the order of the runs. `floor`: a negligible difference, in the unit of the values.
std::vector<TrendChange> find_trend(const std::vector<uint64_t>& values, uint64_t floor);

// The middle value; the upper of the two for an even number of values. pre: not empty
uint64_t median_of(std::vector<uint64_t> values);

}  // namespace heapprof::cli
