// tests/unit/collect/live_samples_test.cc: what sites held at chosen moments: which sites are kept, how far apart
// moments are, and in which order.
#include "cli/collect/books/live_samples.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

constexpr uint64_t kMs = 1'000'000;

std::vector<uint64_t> row(LiveSamples::Reader* reader, uint32_t site) {
  std::vector<uint64_t> rows = {7};  // what is there stays
  const bool has_row = reader->add_row(site, &rows);
  CHECK(rows.front() == 7);
  rows.erase(rows.begin());
  CHECK(has_row != rows.empty());
  return rows;
}

}  // namespace

TEST_CASE("a moment holds what each large site has then") {
  SiteBook book;
  book.grow_to(5);
  LiveSamples samples;
  book.add(1, 5000);
  book.add(2, 4095);
  samples.take(book, 10, 1 * kMs);
  book.add(1, 5000);
  book.add(2, 1);
  book.add(4, 100'000);
  samples.take(book, 20, 2 * kMs);
  book.remove(1, 5000, 0, false);
  samples.take(book, 30, 3 * kMs);
  CHECK(samples.moments() == std::vector<uint64_t>{10, 20, 30});
  LiveSamples::Reader reader(samples);
  CHECK(row(&reader, 1) == std::vector<uint64_t>{5000, 10'000, 5000});
  CHECK(row(&reader, 2) == std::vector<uint64_t>{0, 4096, 4096});
  CHECK(row(&reader, 3).empty());
  CHECK(row(&reader, 4) == std::vector<uint64_t>{0, 100'000, 100'000});
}

TEST_CASE(
    "however long the run, half of the most moments to all of them are left, evenly spread, the last one among them") {
  SiteBook book;
  book.grow_to(2);
  LiveSamples samples;
  uint64_t last_ns = 0;
  for (uint64_t now_ns = kMs; now_ns < 100'000 * kMs; now_ns += kMs / 4) {
    if (!samples.is_due(now_ns)) continue;
    samples.take(book, now_ns, now_ns);
    last_ns = now_ns;
  }
  const std::vector<uint64_t> moments = samples.moments();
  REQUIRE(moments.size() >= LiveSamples::kMost / 2);
  REQUIRE(moments.size() <= LiveSamples::kMost);
  CHECK(moments.back() == last_ns);
  CHECK(moments.front() == kMs);
  for (size_t i = 2; i < moments.size(); ++i) CHECK(moments[i] - moments[i - 1] == moments[1] - moments[0]);
}

TEST_CASE("moments of a large book are further apart") {
  SiteBook book;
  book.grow_to(1'000'000);
  LiveSamples samples;
  samples.take(book, 0, kMs);
  CHECK_FALSE(samples.is_due(1000 * kMs));
  CHECK(samples.is_due(2001 * kMs));
}

TEST_CASE("moments do not go back in time") {
  SiteBook book;
  LiveSamples samples;
  samples.take(book, 20, kMs);
  samples.take(book, 10, 2 * kMs);
  CHECK(samples.moments() == std::vector<uint64_t>{20, 20});
}

}  // namespace heapprof::cli
