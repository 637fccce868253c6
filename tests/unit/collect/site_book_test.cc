// tests/unit/collect/site_book_test.cc: what is kept of a site: size classes, its value at the peak, and sums of
// lifetimes beyond 64 bits.
#include "cli/collect/books/site_book.h"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

namespace heapprof::cli {
namespace {

TEST_CASE("size classes are the model's size buckets") {
  std::mt19937_64 random(1);
  std::vector<uint64_t> sizes{0, 1, UINT64_MAX, UINT64_MAX - 1};
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t near : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) sizes.push_back((1ull << bit) + near);
  }
  for (int i = 0; i < 10'000; ++i) sizes.push_back(random() >> (random() % 64));
  for (const uint64_t size_bytes : sizes) {
    SiteBook book;
    book.grow_to(2);
    book.add(1, size_bytes);
    int bucket = 0;  // the first that has room for it
    while (size_bucket_most(bucket) && *size_bucket_most(bucket) < size_bytes) ++bucket;
    SizeHistogram expected;
    expected.set(bucket, 1);
    REQUIRE(book.sizes(1) == expected);
  }
}

TEST_CASE("a site of one size class has no histogram of its own until a second class comes") {
  SiteBook book;
  book.grow_to(2);
  for (int i = 0; i < 5; ++i) book.add(1, 10);
  CHECK(book[1].histogram == 0);
  book.add(1, 1000);
  CHECK(book[1].histogram != 0);
  CHECK(book.sizes(1)[size_bucket(16)] == 5);
  CHECK(book.sizes(1)[size_bucket(1024)] == 1);
}

TEST_CASE("the smallest and the largest block of a site are those that ever were, whatever their classes") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    SiteBook book;
    book.grow_to(2);
    uint64_t smallest = UINT64_MAX;
    uint64_t largest = 0;
    SizeCounts sizes{};
    for (int i = 0; i < 40; ++i) {
      const uint64_t size_bytes = random() >> (random() % 64);
      smallest = std::min(smallest, size_bytes);
      largest = std::max(largest, size_bytes);
      ++sizes[static_cast<size_t>(size_bucket(size_bytes))];
      book.add(1, size_bytes);
      if (random() % 2 == 0) book.remove(1, size_bytes, 1, true);
      REQUIRE(book[1].smallest_bytes == smallest);
      REQUIRE(book[1].largest_bytes == largest);
      REQUIRE(book.sizes(1) == SizeHistogram(sizes));
    }
  }
}

TEST_CASE("a block of no bytes is the smallest") {
  SiteBook book;
  book.grow_to(2);
  book.add(1, 0);
  CHECK(book[1].smallest_bytes == 0);
  CHECK(book[1].largest_bytes == 0);
  book.add(1, 16);
  CHECK(book[1].smallest_bytes == 0);
  CHECK(book[1].largest_bytes == 16);
  book.add(1, 17);
  CHECK(book.sizes(1)[0] == 1);
  CHECK(book.sizes(1)[1] == 1);
  CHECK(book.sizes(1)[2] == 1);
}

TEST_CASE("each site's value at the peak is what a copy at the peak would hold") {
  constexpr uint32_t kSites = 50;
  std::mt19937_64 random(11);
  SiteBook book;
  book.grow_to(kSites + 1);
  struct Live {
    uint32_t site;
    uint64_t size_bytes;
  };
  std::vector<Live> live;
  std::vector<Amount> now(kSites + 1), copy(kSites + 1);
  uint64_t live_bytes = 0, peak_bytes = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (live.empty() || random() % 1000 < (i / 10'000 % 2 == 0 ? 600u : 420u)) {
      const Live block{static_cast<uint32_t>(1 + random() % kSites), random() % 1000};
      live.push_back(block);
      book.add(block.site, block.size_bytes);
      now[block.site].bytes += block.size_bytes;
      now[block.site].blocks += 1;
      live_bytes += block.size_bytes;
    } else {
      std::swap(live[random() % live.size()], live.back());
      book.remove(live.back().site, live.back().size_bytes, 1, false);
      now[live.back().site].bytes -= live.back().size_bytes;
      now[live.back().site].blocks -= 1;
      live_bytes -= live.back().size_bytes;
      live.pop_back();
    }
    book.check_peak(static_cast<uint64_t>(i));
    if (live_bytes > peak_bytes) {
      peak_bytes = live_bytes;
      copy = now;
    }
  }
  CHECK(book.totals().peak.bytes == peak_bytes);
  for (uint32_t site = 1; site <= kSites; ++site) {
    REQUIRE(book.at_peak(site).bytes == copy[site].bytes);
    REQUIRE(book.at_peak(site).blocks == copy[site].blocks);
  }
}

TEST_CASE("the peak of a phase and that of all time are both maxima") {
  std::mt19937_64 random(3);
  SiteBook book;
  book.grow_to(2);
  std::vector<uint64_t> live;
  uint64_t bytes = 0, peak = 0, phase_peak = 0;
  bool has_phase = false;
  for (int i = 0; i < 100'000; ++i) {
    if (random() % 1000 == 0) {
      book.begin_phase();
      has_phase = true;
      phase_peak = bytes;
    }
    const bool grows = random() % 200 < (i / 5000 % 2 == 0 ? 110 : 90);  // waves, so that there are old peaks to pass
    if (grows || live.empty()) {
      live.push_back(random() % 1000);
      bytes += live.back();
      book.add(1, live.back());
      book.check_peak(static_cast<uint64_t>(i));
    } else {
      bytes -= live.back();
      book.remove(1, live.back(), 0, false);
      live.pop_back();
    }
    peak = std::max(peak, bytes);
    phase_peak = std::max(phase_peak, bytes);
    REQUIRE(book.totals().peak.bytes == peak);
    REQUIRE(book.phase_peak().bytes == (has_phase ? phase_peak : peak));
  }
}

TEST_CASE("lifetimes of a site may sum to more than 64 bits") {
  SiteBook book;
  book.grow_to(2);
  for (int i = 0; i < 3; ++i) {
    book.add(1, 8);
    book.remove(1, 8, 1ull << 63, false);
  }
  CHECK(book[1].lifetime_high_ticks == 1);
  CHECK(book[1].lifetime_low_ticks == 1ull << 63);
}

TEST_CASE("blocks of no bytes count as blocks") {
  SiteBook book;
  book.grow_to(2);
  book.add(1, 0);
  book.add(1, 0);
  book.check_peak(9);
  CHECK(book[1].max.blocks == 2);
  CHECK(book.totals().max_blocks == 2);
  CHECK(book.totals().max_blocks_ticks == 9);
  CHECK(book.totals().peak.bytes == 0);
  CHECK(book.at_peak(1).blocks == book.totals().peak.blocks);
}

}  // namespace
}  // namespace heapprof::cli
