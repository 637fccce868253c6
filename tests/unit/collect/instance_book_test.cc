// tests/unit/collect/instance_book_test.cc: single runs are kept within their bound, the extremes of each path whatever
// happens, and what is kept of the others is spread over all of them.
#include "cli/collect/books/instance_book.h"

#include "shared/events.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace heapprof::cli {
namespace {

using Run = InstanceBook::Run;

Run run_of(uint64_t active_ticks, int64_t growth_bytes, InstanceBook* book) {
  const uint32_t before = book->hold_devices_live();
  return {7, 7 + active_ticks, active_ticks, 1, 2, growth_bytes, 0, 3, before, book->hold_devices_live(), 0};
}

std::vector<Run> kept_of(const InstanceBook& book, uint32_t path) {
  std::vector<Run> runs;
  book.for_each(path, [&runs](const Run& run) { runs.push_back(run); });
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.number < b.number; });
  return runs;
}

// As the books of scopes do.
void add(InstanceBook* book, uint32_t path, const Run& run, bool ended) {
  if (book->wants(path, run.active_ticks, run.growth_bytes, ended)) return book->add(path, run, ended);
  book->release(run.before);
  book->release(run.after);
}

}  // namespace

TEST_CASE("all runs are kept while there is room, each once") {
  InstanceBook book;
  book.add_path();
  book.add_path();
  for (uint64_t i = 0; i < 1000; ++i) add(&book, i % 2, run_of(i, static_cast<int64_t>(i), &book), true);
  for (const uint32_t path : {0u, 1u}) {
    const std::vector<Run> runs = kept_of(book, path);
    REQUIRE(runs.size() == 500);
    for (uint64_t i = 0; i < 500; ++i) {
      CHECK(runs[i].number == i);
      CHECK(runs[i].active_ticks == 2 * i + path);
    }
  }
}

TEST_CASE("runs are within their bound, with the extremes of each path, and evenly spread") {
  constexpr uint64_t kBytes = 64 << 10;
  constexpr uint32_t kPaths = 20;
  std::mt19937_64 random(GENERATE(range(1u, 11u)));
  InstanceBook book(kBytes);
  const uint64_t empty = book.bytes();
  for (uint32_t i = 0; i < kPaths; ++i) book.add_path();
  const uint64_t with_paths = book.bytes() - empty;
  struct Seen {
    uint64_t count = 0;
    std::pair<uint64_t, uint64_t> shortest{UINT64_MAX, 0}, longest{0, 0};  // and their numbers
    std::pair<int64_t, uint64_t> grown{INT64_MIN, 0};
  };
  std::map<uint32_t, Seen> seen;
  const bool has_devices = GENERATE(false, true);
  for (int i = 0; i < 60'000; ++i) {
    // The first path has most of them, the last ones a few.
    const auto path = static_cast<uint32_t>(std::min({random() % kPaths, random() % kPaths, random() % (kPaths + 30)}));
    if (has_devices && random() % 3 == 0) book.set_devices_live({{wire::kFirstCudaDevice, 1 + random() % 1000}});
    const uint64_t active = 10 + random() % 1'000'000;
    const int64_t growth = static_cast<int64_t>(random() % 1'000'000) - 500'000;
    const bool ended = random() % 10 != 0;
    Seen& told = seen[path];
    add(&book, path, run_of(active, growth, &book), ended);
    if (growth > told.grown.first) told.grown = {growth, told.count};
    if (ended && active < told.shortest.first) told.shortest = {active, told.count};
    if (ended && (active > told.longest.first)) told.longest = {active, told.count};
    ++told.count;
    // What extremes hold of devices is beyond the bound: six rows of a path at most.
    REQUIRE(book.bytes() <= kBytes + with_paths + kPaths * 6 * 100);
  }
  uint64_t thinned = 0;
  for (const auto& [path, told] : seen) {
    const std::vector<Run> runs = kept_of(book, path);
    std::set<uint64_t> numbers;
    for (const Run& run : runs) CHECK(numbers.insert(run.number).second);
    REQUIRE(told.count > 3);
    const uint64_t extremes[] = {told.shortest.second, told.longest.second, told.grown.second};
    for (const uint64_t extreme : extremes) CHECK(numbers.count(extreme) == 1);
    // Without the extremes: every 2^n-th, from the first to the last.
    uint64_t step = 1;
    while (told.count / step > runs.size()) step *= 2;
    uint64_t regular = 0;
    for (uint64_t number = 0; number < told.count; number += step) regular += numbers.count(number);
    CHECK(regular >= (told.count + step - 1) / step);
    CHECK(runs.size() <= regular + 3 + told.count / step);
    thinned += told.count - runs.size();
  }
  CHECK(thinned > 30'000);
  CHECK(book.bytes() - with_paths > kBytes / 3);  // and the room is used
}

TEST_CASE("what devices had is shared by the runs between two changes, and given back with the last of them") {
  InstanceBook book(1000 * sizeof(Run));
  book.add_path();
  book.set_devices_live({{wire::kFirstCudaDevice, 1}, {wire::kMappedDevice, 2}});
  const uint64_t before = book.bytes();
  for (int i = 0; i < 100; ++i) add(&book, 0, run_of(5, 5, &book), true);
  CHECK(book.bytes() - before < 100 * (sizeof(Run) + 16));
  for (const Run& run : kept_of(book, 0))
    CHECK(book.devices_live(run.before) ==
          InstanceBook::DevicesLive{{wire::kFirstCudaDevice, 1}, {wire::kMappedDevice, 2}});
  for (uint64_t i = 0; i < 100'000; ++i) {
    book.set_devices_live({{wire::kFirstCudaDevice, 10 + i}});
    add(&book, 0, run_of(5, 5, &book), true);
  }
  CHECK(book.bytes() < 1000 * sizeof(Run) + 2000);
  std::set<uint64_t> values;
  for (const Run& run : kept_of(book, 0)) values.insert(book.devices_live(run.before)[0].second);
  CHECK(values.size() > 100);
}

TEST_CASE("with more paths than there is room for runs each has its extremes") {
  InstanceBook book(50 * 80);
  for (uint32_t path = 0; path < 500; ++path) book.add_path();
  for (int i = 0; i < 20; ++i) {
    for (uint32_t path = 0; path < 500; ++path)
      add(&book, path, run_of(100 + (i == 7) * 5 - (i == 9) * 5, i == 11 ? 5 : 0, &book), true);
  }
  CHECK(book.kept() <= 50);
  for (uint32_t path = 0; path < 500; ++path) {
    std::set<uint64_t> numbers;
    for (const Run& run : kept_of(book, path)) numbers.insert(run.number);
    for (const uint64_t extreme : {7, 9, 11}) CHECK(numbers.count(extreme) == 1);
  }
}

}  // namespace heapprof::cli
