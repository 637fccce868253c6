// tests/unit/collect/sample_rates_test.cc: blocks are chosen with the probability that they are weighed by, whatever
// their size.
#include "cli/collect/rings/sample_rates.h"

#include "cli/collect/books/live_heap.h"
#include "cli/collect/books/sample_weight.h"
#include "cli/model/analysis/sampling.h"
#include "shared/sampling.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

namespace heapprof::cli {
namespace {

constexpr uint64_t kInterval = 64 << 10;

// As the agent counts down.
class Sampler {
 public:
  explicit Sampler(uint64_t seed) : random_(seed), until_(next()) {}
  bool chooses(uint64_t size_bytes) {
    until_ -= static_cast<int64_t>(size_bytes);
    if (until_ >= 0) return false;
    until_ = next();
    return true;
  }

 private:
  int64_t next() { return wire::draw_distance(wire::mix_bits(random_ += 0x9e3779b97f4a7c15), kInterval); }

  uint64_t random_;
  int64_t until_;
};

double probability(uint64_t size_bytes) {
  return -std::expm1(-static_cast<double>(size_bytes) / static_cast<double>(kInterval));
}

// Of the sum of so many blocks of one size: what books that choose add to each, squared.
double variance_of(uint64_t size_bytes, uint64_t blocks) {
  const double p = probability(size_bytes), weight = 1 / p, part = weight - std::floor(weight);
  const double size = static_cast<double>(size_bytes);
  return static_cast<double>(blocks) * size * size * (weight - 1 + p * part * (1 - part));
}

Amount estimate(Sampler* sampler, uint64_t size_bytes, uint64_t blocks, uint64_t salt) {
  Amount sum{};
  for (uint64_t i = 0; i < blocks; ++i) {
    if (!sampler->chooses(size_bytes)) continue;
    const Amount amount = weigh({(salt + i) * 16 + 16, size_bytes, salt * 1000 + i, 1, 1, 1}, kInterval);
    sum = {sum.bytes + amount.bytes, sum.blocks + amount.blocks};
  }
  return sum;
}

}  // namespace

TEST_CASE("the logarithm by squaring is that of libm") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t value = random() >> random() % 60;
    const double got = static_cast<double>(wire::minus_log2(value)) * 0x1p-32;
    REQUIRE(std::abs(got - (64 - std::log2(static_cast<double>(value) + 1))) < 1e-9);
  }
  CHECK(wire::minus_log2(UINT64_MAX) == 0);
  CHECK(wire::minus_log2(0) == uint64_t{64} << 32);
}

TEST_CASE("a distance is passed by a block with the probability that the block is weighed by") {
  constexpr int kDraws = 400'000;
  uint64_t random = 3;
  for (const uint64_t size_bytes :
       {uint64_t{1}, uint64_t{64}, uint64_t{5'000}, kInterval / 2, kInterval, 4 * kInterval}) {
    int passed = 0;
    for (int i = 0; i < kDraws; ++i) {
      random += 0x9e3779b97f4a7c15;
      if (wire::draw_distance(wire::mix_bits(random), kInterval) < static_cast<int64_t>(size_bytes)) ++passed;
    }
    const double p = probability(size_bytes);
    INFO("a block of " << size_bytes << " bytes: chosen " << passed << " times of " << kDraws);
    CHECK(std::abs(passed - p * kDraws) < 4.5 * std::sqrt(p * (1 - p) * kDraws) + 1);
  }
}

TEST_CASE("distances are whole, not negative and finite at the ends") {
  for (const uint64_t interval : {wire::kLeastInterval, kInterval, wire::kMostInterval}) {
    CHECK(wire::draw_distance(UINT64_MAX, interval) == 0);
    const auto farthest = static_cast<double>(wire::draw_distance(0, interval));
    CHECK(std::abs(farthest / static_cast<double>(interval) - 64 * std::log(2.0)) <
          1.0 / static_cast<double>(interval) + 1e-6);
  }
}

TEST_CASE("estimates are unbiased in each class of sizes, and as far off as their variance says") {
  for (const uint64_t size_bytes : {uint64_t{16}, uint64_t{100}, uint64_t{1'000}, uint64_t{8'000}, uint64_t{40'000},
                                    kInterval, 2 * kInterval, 3 * kInterval, 40 * kInterval}) {
    constexpr int kTrials = 400;
    const uint64_t blocks = std::max<uint64_t>(20, 8 * kInterval / size_bytes);
    const auto truth = static_cast<double>(blocks * size_bytes);
    const double variance = variance_of(size_bytes, blocks);
    double sum = 0, sum_of_squares = 0;
    int within = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      Sampler sampler(static_cast<uint64_t>(trial) * 77 + size_bytes);
      const Amount got = estimate(&sampler, size_bytes, blocks, static_cast<uint64_t>(trial));
      REQUIRE(got.bytes == got.blocks * size_bytes);
      const double off = static_cast<double>(got.bytes) - truth;
      sum += off;
      sum_of_squares += off * off;
      // Told of by the truth, as the estimate of the error is itself an estimate.
      if (std::abs(off) <= static_cast<double>(sampling_error_bytes(blocks * size_bytes, blocks, kInterval))) ++within;
    }
    INFO(blocks << " blocks of " << size_bytes << " bytes");
    CHECK(std::abs(sum / kTrials) <= 4.5 * std::sqrt(variance / kTrials) + 1e-9);
    if (variance > 1) CHECK(sum_of_squares / kTrials < 1.45 * variance);
    CHECK(within >= kTrials * 93 / 100);
  }
}

TEST_CASE("the stated error bounds that of any mixture of sizes") {
  // Of a few small blocks beside large ones the mean size says little.
  for (const uint64_t small_bytes : {uint64_t{16}, uint64_t{1'000}, kInterval / 4}) {
    for (const uint64_t large_bytes : {kInterval, 3 * kInterval, 100 * kInterval}) {
      for (const uint64_t small : {uint64_t{1}, uint64_t{100}, uint64_t{100'000}}) {
        for (const uint64_t large : {uint64_t{1}, uint64_t{50}}) {
          const double variance = variance_of(small_bytes, small) + variance_of(large_bytes, large);
          const uint64_t bytes = small * small_bytes + large * large_bytes;
          const auto stated = static_cast<double>(sampling_error_bytes(bytes, small + large, kInterval));
          CHECK(stated >= 1.9599 * std::sqrt(variance));
        }
      }
    }
  }
  CHECK(sampling_error_bytes(1'000'000, 10, 0) == 0);
}

TEST_CASE("a block is weighed the same at its begin and at its end") {
  for (uint64_t address = 16; address < 16'000; address += 16) {
    const Block block{address, 3 * kInterval / 2, 12345, 3, 1, 1};
    const Amount amount = weigh(block, kInterval);
    REQUIRE(weigh(block, kInterval).blocks == amount.blocks);
    REQUIRE((amount.blocks == 1 || amount.blocks == 2));
    REQUIRE(amount.bytes == amount.blocks * block.size_bytes);
  }
}

TEST_CASE("an interval is known by the number that it got") {
  SampleRates rates;
  REQUIRE(rates.add(kInterval));
  REQUIRE(rates.add(2 * kInterval));
  CHECK(rates.find(0) == 0u);
  CHECK(rates.find(kInterval) == 1u);
  CHECK(rates.find(2 * kInterval) == 2u);
  CHECK_FALSE(rates.find(kInterval + 1));
  CHECK(rates.largest_bytes() == 2 * kInterval);
}

TEST_CASE("there is room for 255 intervals, and the same one again needs none") {
  SampleRates rates;
  for (uint64_t i = 0; i < SampleRates::kMost; ++i) CHECK(rates.add(1000 + i));
  CHECK_FALSE(rates.add(500));
  CHECK(rates.add(1000));
}

TEST_CASE("a mark counts the blocks that are live there, and stays once nobody knows how many there are") {
  std::atomic<uint8_t> mark{0};
  wire::take_mark(mark);
  CHECK(mark == 0);
  wire::add_mark(mark);
  wire::add_mark(mark);
  wire::take_mark(mark);
  CHECK(mark == 1);
  for (int i = 0; i < 300; ++i) wire::add_mark(mark);
  for (int i = 0; i < 400; ++i) wire::take_mark(mark);
  CHECK(mark == wire::kFullMark);
}

}  // namespace heapprof::cli
