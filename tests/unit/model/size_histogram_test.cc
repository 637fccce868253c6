// tests/unit/model/size_histogram_test.cc: every size is of the one bucket whose ends enclose it, and a histogram is
// what a plain array would be.
#include "cli/model/profile/size_histogram.h"

#include "cli/model/compare/merge_profiles.h"
#include "cli/model/profile/site_numbers.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

#include <random>

using namespace heapprof::cli;
using namespace heapprof::test;

TEST_CASE("a size lies between the ends of its bucket, and of its class where buckets are coarse") {
  std::mt19937_64 random(3);
  std::vector<uint64_t> sizes{0, 1, UINT64_MAX};
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t near : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) sizes.push_back((1ull << bit) + near);
  }
  for (int i = 0; i < 10'000; ++i) sizes.push_back(random() >> (random() % 64));
  for (const uint64_t size_bytes : sizes) {
    const int bucket = size_bucket(size_bytes);
    const int coarse = bucket_of_coarse(coarse_of_bucket(bucket));
    INFO(size_bytes << " " << bucket << " " << coarse);
    CHECK(size_bytes >= size_bucket_least(bucket, false));
    CHECK(size_bytes <= size_bucket_most(bucket).value_or(UINT64_MAX));
    CHECK(size_bytes >= size_bucket_least(coarse, true));
    CHECK(size_bytes <= size_bucket_most(coarse).value_or(UINT64_MAX));
  }
  CHECK(size_bucket_most(0) == 8);
  CHECK(size_bucket_most(kSizeBuckets - 2) == uint64_t{1} << 30);
  CHECK(size_bucket_least(kSizeBuckets - 1, false) == (uint64_t{1} << 30) + 1);
  CHECK(size_bucket_least(kSizeBuckets - 1, true) == (uint64_t{1} << 24) + 1);
  for (int coarse = 0; coarse < kCoarseClasses; ++coarse) CHECK(coarse_of_bucket(bucket_of_coarse(coarse)) == coarse);
}

TEST_CASE("a histogram is what a plain array would be, through copies and moves") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 200; ++round) {
    SizeHistogram histogram;
    SizeCounts counts{};
    const int buckets = round % 3 == 0 ? 1 : kSizeBuckets;
    for (int i = 0; i < 20; ++i) {
      const auto bucket = static_cast<int>(random() % static_cast<uint64_t>(buckets)) + (buckets == 1 ? round % 29 : 0);
      const uint64_t blocks = random() % 4 == 0 ? 0 : random();
      histogram.set(bucket, blocks);
      counts[static_cast<size_t>(bucket)] = blocks;
      SizeHistogram copy = histogram;
      SizeHistogram assigned;
      assigned.set(1, 99);
      assigned = copy;
      CHECK(assigned == histogram);
      const SizeHistogram moved = std::move(copy);
      for (int at = 0; at < kSizeBuckets; ++at) REQUIRE(moved[at] == counts[static_cast<size_t>(at)]);
      CHECK(moved == SizeHistogram(counts));
    }
  }
  SizeHistogram one;
  one.set(4, 7);
  SizeHistogram other;
  other.set(5, 7);
  CHECK_FALSE(one == other);
}

TEST_CASE("counting by powers of four keeps all blocks") {
  Profile profile = assembled(random_sample({5, 500, 12, 60}));
  Profile coarse = profile;
  coarsen_sizes(&coarse);
  CHECK(coarse.has_coarse_sizes);
  bool has_changed = false;
  for (size_t i = 0; i < profile.devices[0].sites.size(); ++i) {
    const SizeHistogram& before = profile.devices[0].sites[i].numbers.sizes;
    const SizeHistogram& after = coarse.devices[0].sites[i].numbers.sizes;
    has_changed = has_changed || !(before == after);
    for (int coarse_class = 0; coarse_class < kCoarseClasses; ++coarse_class) {
      uint64_t blocks = 0;
      for (int bucket = 0; bucket < kSizeBuckets; ++bucket)
        blocks += coarse_of_bucket(bucket) == coarse_class ? before[bucket] : 0;
      CHECK(after[bucket_of_coarse(coarse_class)] == blocks);
    }
  }
  CHECK(has_changed);
}

TEST_CASE("a sum of a profile of before and one of now says no more than the first one knows") {
  const Profile now = assembled(random_sample({5, 500, 12, 60}));
  Profile before = now;
  coarsen_sizes(&before);
  for (const bool is_before_first : {false, true}) {
    ProfileMerger merger;
    REQUIRE(merger.add(is_before_first ? before : now, "a.json").ok());
    REQUIRE(merger.add(is_before_first ? now : before, "b.json").ok());
    const Profile sum = merger.take();
    CHECK(sum.has_coarse_sizes);
    for (const Site& site : sum.devices[0].sites) {
      uint64_t counted = 0;
      for (int bucket = 0; bucket < kSizeBuckets; ++bucket) {
        counted += site.numbers.sizes[bucket];
        if (bucket_of_coarse(coarse_of_bucket(bucket)) != bucket) CHECK(site.numbers.sizes[bucket] == 0);
      }
      CHECK(counted == site.numbers.total_blocks);
    }
  }
}
