// tests/unit/model/trend_test.cc: planted steps and drifts are found where they are, and noise is nothing.
#include "cli/model/judge/trend.h"

#include <catch2/catch.hpp>

#include <random>

using namespace heapprof::cli;

namespace {

constexpr uint64_t kMiB = 1 << 20;

struct Noise {
  uint64_t seed = 1;
  double share = 0;  // standard deviation
};

// One value for each factor, of 100 MiB.
std::vector<uint64_t> series(const std::vector<double>& factors, const Noise& noise) {
  std::mt19937_64 random(noise.seed);
  std::normal_distribution<double> deviation(0, noise.share);
  std::vector<uint64_t> values;
  for (const double factor : factors)
    values.push_back(static_cast<uint64_t>(100.0 * kMiB * factor * (1 + (noise.share > 0 ? deviation(random) : 0))));
  return values;
}

std::vector<double> flat(size_t runs, double factor = 1) { return std::vector<double>(runs, factor); }

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<double> ramp(size_t runs, double by_run) {
  std::vector<double> factors;
  for (size_t i = 0; i < runs; ++i) factors.push_back(1 + by_run * static_cast<double>(i));
  return factors;
}

std::vector<TrendChange> found(const std::vector<double>& factors, const Noise& noise = {}) {
  return find_trend(series(factors, noise), 4096);
}

}  // namespace

TEST_CASE("a step is found at its first run") {
  const std::vector<TrendChange> trend_changes = found(joined(flat(20), flat(15, 1.1)));
  REQUIRE(trend_changes.size() == 1);
  CHECK(trend_changes[0].kind == TrendChange::Kind::kStep);
  CHECK(trend_changes[0].first == 20);
  CHECK(trend_changes[0].before == 100 * kMiB);
  CHECK(trend_changes[0].after == static_cast<uint64_t>(110.0 * kMiB));
  CHECK(trend_changes[0].is_confirmed);
}

TEST_CASE("a step in noise is found within two runs of where it was planted") {
  size_t right = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const std::vector<TrendChange> trend_changes = found(joined(flat(25), flat(25, 1.10)), {seed, 0.01});
    if (trend_changes.size() == 1 && trend_changes[0].kind == TrendChange::Kind::kStep &&
        trend_changes[0].first >= 23 && trend_changes[0].first <= 27)
      ++right;
  }
  CHECK(right >= 97);
}

TEST_CASE("noise alone is nothing, whatever its size") {
  for (const double share : {0.0001, 0.002, 0.01, 0.05, 0.14}) {
    size_t false_changes = 0;
    for (uint64_t seed = 1; seed <= 200; ++seed) false_changes += found(flat(60), {seed, share}).size();
    CAPTURE(share);
    CHECK(false_changes <= 2);
  }
}

TEST_CASE("two values that runs switch between at random are nothing") {
  size_t false_changes = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<double> factors;
    for (int i = 0; i < 60; ++i) factors.push_back(random() % 2 == 0 ? 1 : 1.2);
    false_changes += found(factors).size();
  }
  CHECK(false_changes <= 10);
}

TEST_CASE("runs that stand out now and then are no step that is sure") {
  size_t false_changes = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<double> factors;
    for (int i = 0; i < 40; ++i) factors.push_back(random() % 100 < 15 ? 1.2 : 1);
    for (const TrendChange& trend_change : found(factors)) false_changes += trend_change.is_confirmed ? 1 : 0;
  }
  CHECK(false_changes <= 8);
}

TEST_CASE("a stretch that is noisier than the rest is nothing, nine times in ten") {
  size_t false_changes = 0;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> deviation(0, 0.05);
    std::vector<double> factors = flat(60);
    for (size_t i = 40; i < 56; ++i) factors[i] += deviation(random);
    for (const TrendChange& trend_change : found(factors)) false_changes += trend_change.is_confirmed ? 1 : 0;
  }
  CHECK(false_changes <= 60);
}

TEST_CASE("what rises and comes half way back is no drift") {
  std::vector<double> factors = ramp(20, 0.005);
  for (size_t i = 0; i < 20; ++i) factors.push_back(1.1 - 0.003 * static_cast<double>(i));
  CHECK(found(factors).empty());
}

TEST_CASE("a drift without a step is found as a drift, with and without noise") {
  std::vector<TrendChange> trend_changes = found(ramp(41, 0.00225));
  REQUIRE(trend_changes.size() == 1);
  CHECK(trend_changes[0].kind == TrendChange::Kind::kDrift);
  CHECK(trend_changes[0].first == 0);
  CHECK(trend_changes[0].last == 40);
  CHECK(trend_changes[0].largest_single < 100 * kMiB / 100);
  size_t right = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    trend_changes = found(ramp(60, 0.004), {seed, 0.01});
    if (trend_changes.size() == 1 && trend_changes[0].kind == TrendChange::Kind::kDrift) ++right;
  }
  CHECK(right >= 97);
  trend_changes = find_trend(series(ramp(41, -0.00225), {}), 4096);
  REQUIRE(trend_changes.size() == 1);
  CHECK(trend_changes[0].after < trend_changes[0].before);
}

TEST_CASE("a single run that stands out is no step") {
  std::vector<double> factors = flat(30);
  factors[12] = 3;
  factors[21] = 0.1;
  CHECK(found(factors).empty());
  CHECK(found(factors, {4, 0.005}).empty());
}

TEST_CASE("the newest run is a step that is not confirmed, two more confirm it, and going back takes it away") {
  std::vector<TrendChange> trend_changes = found(joined(flat(20), flat(1, 1.2)), {5, 0.005});
  REQUIRE(trend_changes.size() == 1);
  CHECK(trend_changes[0].first == 20);
  CHECK_FALSE(trend_changes[0].is_confirmed);
  trend_changes = found(joined(flat(20), flat(3, 1.2)), {5, 0.005});
  REQUIRE(trend_changes.size() == 1);
  CHECK(trend_changes[0].is_confirmed);
  CHECK(found(joined(joined(flat(20), flat(1, 1.2)), flat(6)), {5, 0.005}).empty());
}

TEST_CASE("two steps, up and down, are two findings in their order") {
  const std::vector<TrendChange> trend_changes =
      found(joined(joined(flat(15), flat(12, 1.3)), flat(15, 0.9)), {6, 0.01});
  REQUIRE(trend_changes.size() == 2);
  CHECK(trend_changes[0].first == 15);
  CHECK(trend_changes[1].first == 27);
  CHECK(trend_changes[1].after < trend_changes[1].before);
}

TEST_CASE("a drift between two steps is told apart from them") {
  const std::vector<TrendChange> trend_changes = found(joined(flat(20), joined(flat(1, 1.5), [] {
                                                                std::vector<double> rise = ramp(40, 0.003);
                                                                for (double& factor : rise) factor += 0.5;
                                                                return rise;
                                                              }())));
  REQUIRE(trend_changes.size() == 2);
  CHECK(trend_changes[0].kind == TrendChange::Kind::kStep);
  CHECK(trend_changes[0].first == 20);
  CHECK(trend_changes[1].kind == TrendChange::Kind::kDrift);
  CHECK(trend_changes[1].first == 20);
}

TEST_CASE("a step below one percent, or below what anybody cares about, is nothing") {
  CHECK(found(joined(flat(20), flat(20, 1.009))).empty());
  CHECK(find_trend({0, 0, 0, 0, 0, 4000, 4000, 4000, 4000}, 4096).empty());
  CHECK(find_trend({0, 0, 0, 0, 0, 5000, 5000, 5000, 5000}, 4096).size() == 1);
}

TEST_CASE("short and odd series are harmless") {
  CHECK(find_trend({}, 0).empty());
  CHECK(find_trend({5}, 0).empty());
  CHECK(find_trend({5, 500'000}, 0).empty());
  CHECK(find_trend({1, 1, 900'000}, 0).empty());  // too few before it
  CHECK(find_trend(std::vector<uint64_t>(50, 0), 0).empty());
  CHECK(find_trend(std::vector<uint64_t>(50, UINT64_MAX), 0).empty());
  std::vector<uint64_t> extreme(50, 0);
  for (size_t i = 25; i < 50; ++i) extreme[i] = UINT64_MAX;
  REQUIRE(find_trend(extreme, 0).size() == 1);
  CHECK(find_trend(extreme, 0)[0].first == 25);
}

TEST_CASE("of a long series the newest thousand runs are looked at") {
  std::vector<uint64_t> values = series(joined(flat(3000), flat(20, 2)), {});
  for (size_t i = 0; i < 1000; ++i) values[i] = 7;
  const std::vector<TrendChange> trend_changes = find_trend(values, 4096);
  REQUIRE(trend_changes.size() == 1);
  CHECK(trend_changes[0].first == 3000);
}
