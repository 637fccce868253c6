// tests/unit/collect/page_ranges_test.cc: who has which page, against a list of every page, whatever is put and taken.
#include "cli/collect/books/page_ranges.h"

#include <catch2/catch.hpp>

#include <array>
#include <random>

namespace heapprof::cli {
namespace {

constexpr uint64_t kPages = 64;
using Owners = std::array<uint64_t, kPages>;  // of each page its block; 0: nobody's

Owners owners_of(const PageRanges& ranges) {
  Owners owners{};
  for (const PagePiece& piece : ranges.find(0, UINT64_MAX)) {
    REQUIRE(piece.start < piece.end);
    REQUIRE(piece.end <= kPages);
    for (uint64_t page = piece.start; page < piece.end; ++page) {
      REQUIRE(owners[page] == 0);
      owners[page] = piece.block;
    }
  }
  return owners;
}

size_t runs_of(const Owners& owners) {
  size_t runs = 0;
  for (size_t page = 0; page < kPages; ++page) {
    if (owners[page] != 0 && (page == 0 || owners[page - 1] != owners[page])) ++runs;
  }
  return runs;
}

TEST_CASE("pages belong to whom a list of every page says, whatever is put and taken") {
  std::mt19937_64 random(7);
  PageRanges ranges;
  Owners owners{};
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t start = random() % kPages;
    const uint64_t end = start + random() % (kPages - start + 1);
    uint64_t there = 0;
    for (uint64_t page = start; page < end; ++page) there += owners[page] != 0 ? 1 : 0;
    REQUIRE(ranges.is_free(start, end) == (there == 0));
    uint64_t taken_pages = 0;
    for (const PagePiece& piece : ranges.take(start, end)) {
      taken_pages += piece.bytes();
      for (uint64_t page = piece.start; page < piece.end; ++page) {
        REQUIRE(owners[page] == piece.block);
        owners[page] = 0;
      }
    }
    REQUIRE(taken_pages == there);
    if (start < end && random() % 3 != 0) {
      const uint64_t block = 1 + random() % 3;  // neighbours of one block come about often
      ranges.put({start, end, block});
      for (uint64_t page = start; page < end; ++page) owners[page] = block;
    }
    REQUIRE(owners_of(ranges) == owners);
    REQUIRE(ranges.size() == runs_of(owners));
  }
}

TEST_CASE("pieces are cut at the ends of what is asked for") {
  PageRanges ranges;
  ranges.put({10, 20, 1});
  ranges.put({30, 40, 2});
  const std::vector<PagePiece> found = ranges.find(15, 31);
  REQUIRE(found.size() == 2);
  CHECK(found[0].start == 15);
  CHECK(found[0].end == 20);
  CHECK(found[1].start == 30);
  CHECK(found[1].end == 31);
  CHECK(ranges.find(20, 30).empty());
  CHECK(ranges.find(15, 15).empty());
  CHECK(ranges.size() == 2);
}

}  // namespace
}  // namespace heapprof::cli
