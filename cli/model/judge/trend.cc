// cli/model/judge/trend.cc: uses medians and not means, because one run on a busy machine must not change a window's
// value.
#include "cli/model/judge/trend.h"

#include "cli/base/saturating.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace heapprof::cli {
namespace {

constexpr size_t kWindow = 10;
constexpr size_t kLeastBefore = 3;
constexpr size_t kConfirmed = 3;
constexpr size_t kLeastDrift = 10;
constexpr size_t kDriftWindow = 5;  // runs at either end; a larger window would hide much of the change
constexpr size_t kMostRuns = 1000;
constexpr double kDeviationsOfMad = 1.4826;  // standard deviation / median absolute deviation of a normal distribution
constexpr double kStepNoise = 4;
constexpr double kUnconfirmedNoise = 8;
constexpr double kStepShare = 0.01;
constexpr double kDriftShare = 0.03;
constexpr double kLeastTau = 0.5;
constexpr double kBetterThanSlope = 0.75;  // if noise hides the slope, a line fits about as well as a step

using Values = std::span<const uint64_t>;

uint64_t ranked(Values values, size_t rank) {
  std::vector<uint64_t> copy(values.begin(), values.end());
  std::nth_element(copy.begin(), copy.begin() + static_cast<ptrdiff_t>(rank), copy.end());
  return copy[rank];
}
// Returns one of the values, unlike median(), because a step goes from one measured number to another.
uint64_t middle(Values values) { return ranked(values, values.size() / 2); }

double sum_of_distances(Values values, uint64_t centre) {
  double sum = 0;
  for (const uint64_t value : values) sum += static_cast<double>(distance(value, centre));
  return sum;
}

// Uses the seventieth percentile and not the median, because in runs that switch between two values half of the
// neighbours are equal.
double noise_of_neighbours(Values values) {
  constexpr double kDeviationsOfPercentile = 1.0364;  // of a normal distribution
  std::vector<uint64_t> steps;
  for (size_t i = 0; i + 1 < values.size(); ++i) steps.push_back(distance(values[i], values[i + 1]));
  if (steps.empty()) return 0;
  return static_cast<double>(ranked(steps, steps.size() * 7 / 10)) / kDeviationsOfPercentile / std::sqrt(2.0);
}

// The noise by the distance of runs from the median of their own window, over two windows.
double noise_of_windows(Values before, Values after) {
  std::vector<uint64_t> residuals;
  for (const Values window : {before, after}) {
    const uint64_t centre = middle(window);
    for (const uint64_t value : window) residuals.push_back(distance(value, centre));
  }
  return kDeviationsOfMad * static_cast<double>(middle(residuals));
}

// Whether three quarters of `after` are beyond three quarters of `before`, in the direction in which the medians moved.
bool are_apart(Values before, Values after, bool is_rise) {
  const auto low = [](Values values) { return ranked(values, values.size() / 4); };
  const auto high = [](Values values) { return ranked(values, values.size() - 1 - values.size() / 4); };
  return is_rise ? low(after) > high(before) : high(after) < low(before);
}

// The sum of the distances of runs from the straight line through the middles of both windows.
double distance_from_slope(Values before, Values after, const TrendChange& step) {
  const double first = (static_cast<double>(before.size()) - 1) / 2;
  const double second = static_cast<double>(before.size()) + (static_cast<double>(after.size()) - 1) / 2;
  const auto from = static_cast<double>(step.before);
  const double by_run = (static_cast<double>(step.after) - from) / (second - first);
  double sum = 0;
  double at = 0;
  for (const Values window : {before, after}) {
    for (const uint64_t value : window) sum += std::abs(static_cast<double>(value) - (from + by_run * (at++ - first)));
  }
  return sum;
}

class StepSearch {
 public:
  StepSearch(Values values, uint64_t floor, std::vector<TrendChange>* found)
      : values_(values), floor_(floor), noise_(noise_of_neighbours(values)), found_(found) {}

  // Finds the steps within [begin, end), in order.
  void run(size_t begin, size_t end) {
    std::optional<TrendChange> best;
    double best_gain = 0;
    for (size_t i = begin + kLeastBefore; i < end; ++i) {
      const size_t from = i - std::min(kWindow, i - begin);
      const size_t to = i + std::min(kWindow, end - i);
      const Values before = values_.subspan(from, i - from);
      const Values after = values_.subspan(i, to - i);
      const TrendChange step = {TrendChange::Kind::kStep,   i, to - 1, middle(before), middle(after),
                                after.size() >= kConfirmed, 0};
      if (!is_step(step, before, after)) continue;
      const Values all = values_.subspan(from, to - from);
      const double gain = sum_of_distances(all, middle(all)) - sum_of_distances(before, step.before) -
                          sum_of_distances(after, step.after);
      if (best && gain <= best_gain) continue;
      best = step;
      best_gain = gain;
    }
    if (!best) return;
    run(begin, best->first);
    found_->push_back(*best);
    run(best->first, end);
  }

 private:
  bool is_step(const TrendChange& step, Values before, Values after) const {
    const auto change = static_cast<double>(distance(step.before, step.after));
    const double noise = std::max(noise_, noise_of_windows(before, after));
    return change > static_cast<double>(floor_) && change > kStepShare * static_cast<double>(step.before) &&
           change > noise * (step.is_confirmed ? kStepNoise : kUnconfirmedNoise) &&
           are_apart(before, after, step.after > step.before) &&
           sum_of_distances(before, step.before) + sum_of_distances(after, step.after) <
               kBetterThanSlope * distance_from_slope(before, after, step);
  }

  Values values_;
  uint64_t floor_;
  double noise_;
  std::vector<TrendChange>* found_;
};

// Kendall's tau: the number of pairs that rise minus the number that fall, as a share of all pairs.
double kendalls_tau(Values values) {
  double balance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j)
      balance += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
  }
  return balance / (static_cast<double>(values.size()) * static_cast<double>(values.size() - 1) / 2);
}

std::optional<TrendChange> find_drift(Values values, size_t begin, size_t end, uint64_t floor) {
  if (end - begin < kLeastDrift) return std::nullopt;
  const Values stretch = values.subspan(begin, end - begin);
  const size_t window = std::min(kDriftWindow, stretch.size() / 3);
  TrendChange drift = {TrendChange::Kind::kDrift,    begin, end - 1, middle(stretch.first(window)),
                       middle(stretch.last(window)), true,  0};
  const auto change = static_cast<double>(distance(drift.before, drift.after));
  if (change <= static_cast<double>(floor) || change <= kDriftShare * static_cast<double>(drift.before) ||
      change <= kStepNoise * noise_of_neighbours(stretch))
    return std::nullopt;
  const double tau = kendalls_tau(stretch);
  if (drift.after > drift.before ? tau < kLeastTau : tau > -kLeastTau) return std::nullopt;
  for (size_t i = 0; i + 1 < stretch.size(); ++i)
    drift.largest_single = std::max(drift.largest_single, distance(stretch[i], stretch[i + 1]));
  return drift;
}

}  // namespace

uint64_t median_of(std::vector<uint64_t> values) { return middle(values); }

std::vector<TrendChange> find_trend(const std::vector<uint64_t>& values, uint64_t floor) {
  const size_t skipped = values.size() - std::min(values.size(), kMostRuns);
  const Values recent = Values(values).subspan(skipped);
  std::vector<TrendChange> steps;
  StepSearch(recent, floor, &steps).run(0, recent.size());
  std::vector<TrendChange> trend_changes;
  size_t begin = 0;
  for (size_t i = 0; i <= steps.size(); ++i) {
    const size_t end = i < steps.size() ? steps[i].first : recent.size();
    if (const std::optional<TrendChange> drift = find_drift(recent, begin, end, floor)) trend_changes.push_back(*drift);
    if (i < steps.size()) trend_changes.push_back(steps[i]);
    begin = end;
  }
  for (TrendChange& trend_change : trend_changes) {
    trend_change.first += skipped;
    trend_change.last += skipped;
  }
  return trend_changes;
}

}  // namespace heapprof::cli
