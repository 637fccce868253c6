// tests/unit/collect/timeline_test.cc: the extremes of each bucket are kept, over gaps and when buckets double their
// width.
#include "cli/collect/books/timeline.h"

#include <catch2/catch.hpp>

#include <random>

namespace heapprof::cli {
namespace {

TEST_CASE("a timeline holds minimum and maximum of each bucket, and carries values over gaps") {
  LiveTimeline timeline(4);  // 16 ticks
  timeline.start(100);
  timeline.record(101, 10);
  timeline.record(105, 30);
  timeline.record(110, 20);
  timeline.record(116 + 3 * 16, 5);  // buckets 1, 2 and 3 saw nothing
  const auto buckets = timeline.buckets(116 + 3 * 16);
  REQUIRE(buckets.size() == 5);
  CHECK((buckets[0].min_bytes == 0 && buckets[0].max_bytes == 30));
  for (int i = 1; i <= 3; ++i) CHECK((buckets[i].min_bytes == 20 && buckets[i].max_bytes == 20));
  CHECK((buckets[4].min_bytes == 5 && buckets[4].max_bytes == 20));
}

TEST_CASE("a full timeline doubles its width and loses no extreme") {
  std::mt19937_64 random(3);
  LiveTimeline timeline(2);
  timeline.start(1000);
  std::vector<std::pair<uint64_t, uint64_t>> values;  // time, bytes
  uint64_t time = 1000, highest = 0;
  for (int i = 0; i < 200'000; ++i) {
    time += random() % 9;
    const uint64_t bytes = random() % 1'000'000;
    highest = std::max(highest, bytes);
    timeline.record(time, bytes);
    values.push_back({time, bytes});
  }
  const auto buckets = timeline.buckets(time);
  CHECK(buckets.size() <= LiveTimeline::kMaxBuckets);
  CHECK(buckets.size() > LiveTimeline::kMaxBuckets / 2);
  uint64_t seen = 0;
  for (const auto& bucket : buckets) seen = std::max(seen, bucket.max_bytes);
  CHECK(seen == highest);

  // Against the definition: extremes of the values in a bucket and of the one carried into it.
  size_t at = 0;
  uint64_t carried = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    uint64_t low = carried, high = carried;
    const uint64_t end = 1000 + (i + 1) * timeline.width_ticks();
    for (; at < values.size() && values[at].first < end; ++at) {
      carried = values[at].second;
      low = std::min(low, carried);
      high = std::max(high, carried);
    }
    REQUIRE(buckets[i].min_bytes == low);
    REQUIRE(buckets[i].max_bytes == high);
  }
}

TEST_CASE("a timeline survives the largest time there is") {
  LiveTimeline timeline;
  timeline.start(5);
  timeline.record(6, 100);
  timeline.record(UINT64_MAX, 7);
  timeline.record(UINT64_MAX, 9);
  const auto buckets = timeline.buckets(UINT64_MAX);
  CHECK(buckets.size() <= LiveTimeline::kMaxBuckets);
  CHECK(buckets.front().max_bytes == 100);
  CHECK(timeline.last_bytes() == 9);
}

}  // namespace
}  // namespace heapprof::cli
