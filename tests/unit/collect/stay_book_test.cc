// tests/unit/collect/stay_book_test.cc: stays against a list of all blocks that ever were, at every two bounds that are
// left.
#include "cli/collect/books/stay_book.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <vector>

using namespace heapprof::cli;

namespace {

struct Lived {
  uint32_t site;
  uint64_t begin;
  uint64_t end;  // UINT64_MAX: to the last bound
  uint64_t bytes;
};

// What began between bounds a and b and is live at b, by site.
using Sums = std::map<uint32_t, std::pair<uint64_t, uint64_t>>;

Sums of_list(const std::vector<Lived>& lived, uint64_t a, uint64_t b) {
  Sums sums;
  for (const Lived& block : lived) {
    if (block.begin < a || block.begin >= b || block.end < b) continue;
    sums[block.site].first += block.bytes;
    sums[block.site].second += 1;
  }
  return sums;
}

Sums of_book(const StayBook& book, const std::vector<StayBound>& bounds, uint32_t a, uint32_t b) {
  Sums sums;
  book.for_each([&](const KeptStay& stay) {
    const uint32_t begin = stretch_index(bounds, stay.begin);
    const uint32_t end = stretch_index(bounds, stay.end);
    if (begin < a || begin >= b || end < b) return;
    sums[stay.site].first += stay.bytes;
    sums[stay.site].second += stay.blocks;
  });
  return sums;
}

// A program that goes on for so many events, some of them after a rest, with marks now and then.
struct Story {
  StayBounds bounds;
  StayBook book;
  std::vector<Lived> lived;
  uint64_t now = 1000;

  Story(uint64_t seed, size_t events, uint32_t sites, uint64_t rest_ticks) {
    std::mt19937_64 random(seed);
    book.set_bounds(&bounds);
    bounds.start(now);
    std::vector<Lived> live;
    for (size_t i = 0; i < events; ++i) {
      now += random() % 20'000;
      if (random() % 500 == 0) now += rest_ticks;
      if (random() % 3 == 0 && bounds.is_due(now)) now = bounds.add(now);
      if (random() % 400 == 0) now = bounds.add_mark(now, now);
      if (live.empty() || random() % 5 < 3) {
        live.push_back({1 + static_cast<uint32_t>(random() % sites), now, UINT64_MAX, 1 + random() % 5000});
        continue;
      }
      // Young ones die more often.
      const size_t at =
          random() % 4 == 0 ? random() % live.size() : live.size() - 1 - random() % std::min<size_t>(live.size(), 8);
      Lived block = live[at];
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      book.end(block.site, {block.begin, now}, block.bytes, 1);
      if (random() % 50 == 0) {  // it did not end after all
        const uint64_t ended = now;
        now += random() % 100'000;
        if (bounds.is_due(now)) now = bounds.add(now);
        book.take_back(block.site, {block.begin, ended}, block.bytes, 1);
        live.push_back(block);
        continue;
      }
      block.end = now;
      lived.push_back(block);
    }
    bounds.finish(now);
    for (const Lived& block : live) {
      book.leave(block.site, block.begin, block.bytes);
      lived.push_back(block);
    }
  }
};

}  // namespace

TEST_CASE("between any two bounds the stays are what a list of all blocks says") {
  for (const uint64_t rest_ticks : {uint64_t{0}, uint64_t{1} << 28}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const Story story(seed, 4000 * seed, 20, rest_ticks);
      REQUIRE_FALSE(story.book.is_given_up());
      const std::vector<StayBound>& bounds = story.bounds.bounds();
      REQUIRE(bounds.size() >= 10);
      for (uint32_t a = 0; a + 1 < bounds.size(); a += 1 + a % 3) {
        for (uint32_t b = a + 1; b < bounds.size(); b += 1 + b % 3) {
          if (of_book(story.book, bounds, a, b) != of_list(story.lived, bounds[a].ticks, bounds[b].ticks))
            FAIL("seed " << seed << ": bounds " << a << " and " << b);
        }
      }
    }
  }
}

TEST_CASE("a book has a bounded number of stays, and is exact at the bounds that it keeps") {
  const Story story(7, 120'000, 2500, 0);
  REQUIRE_FALSE(story.book.is_given_up());
  CHECK(story.book.bytes() >= 2 * sizeof(KeptStay) * StayBook::kFewest);  // it was full
  CHECK(story.book.bytes() <= 4 * sizeof(KeptStay) * std::max(StayBook::kFewest, StayBook::kStaysOfSite * 2500));
  const std::vector<StayBound>& bounds = story.bounds.bounds();
  const uint32_t last = static_cast<uint32_t>(bounds.size()) - 1;
  for (const uint32_t a : {0u, last / 2})
    CHECK(of_book(story.book, bounds, a, last) == of_list(story.lived, bounds[a].ticks, bounds[last].ticks));
}

TEST_CASE("bounds by time are 64 at most, and those around a rest stay") {
  StayBounds bounds;
  bounds.start(0);
  uint64_t now = 0;
  for (int i = 0; i < 100'000; ++i) {
    now += 10'000;
    if (i == 20'000) now += uint64_t{1} << 40;
    if (bounds.is_due(now)) now = bounds.add(now);
  }
  CHECK(bounds.bounds().size() <= StayBounds::kMost + 1);
  CHECK(bounds.bounds().size() >= StayBounds::kMost / 4);
  uint64_t before = 0;
  size_t across = 0;
  for (const StayBound& bound : bounds.bounds()) {
    across += bound.ticks - before >= uint64_t{1} << 40 ? 1 : 0;
    CHECK((before == 0 || bound.ticks > before));
    before = bound.ticks;
  }
  CHECK(across == 1);
}

TEST_CASE("marks are bounds wherever they are made, 64 at most, and are kept before those of time") {
  StayBounds bounds;
  bounds.start(0);
  uint64_t now = 1'000'000;
  const auto marks_of = [](const std::vector<StayBound>& of) {
    return std::count_if(of.begin(), of.end(), [](const StayBound& bound) { return bound.is_marked; });
  };
  for (int i = 0; i < 40; ++i) {
    now = bounds.add_mark(now + 100, now + 100);  // hard on one of time
    now = bounds.add(now + (uint64_t{1} << (i / 2)));
  }
  CHECK(marks_of(bounds.bounds()) == 40);
  std::vector<StayBound> few = bounds.bounds();
  while (few.size() > 50 && thin_out(&few)) {
  }
  CHECK(marks_of(few) == 40);
  while (thin_out(&few)) {
  }
  CHECK(few.size() == 2);
  for (int i = 0; i < 3000; ++i) now = bounds.add_mark(now + 1000, now + 1000);
  CHECK(marks_of(bounds.bounds()) <= 64);
  CHECK(marks_of(bounds.bounds()) >= 16);
}

size_t count(const StayBook& book) {
  size_t stays = 0;
  book.for_each([&stays](const KeptStay&) { ++stays; });
  return stays;
}

TEST_CASE("without bounds nothing is kept") {
  StayBook book;
  book.end(1, {5, 10}, 100, 1);
  book.leave(1, 5, 100);
  CHECK(count(book) == 0);
  StayBounds not_started;
  book.set_bounds(&not_started);
  book.end(1, {5, 10}, 100, 1);
  CHECK(count(book) == 0);
}
