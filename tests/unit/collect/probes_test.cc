// tests/unit/collect/probes_test.cc: how many slots each hash table of the collector looks at until it finds one. A
// hash that is bad gives the same books, and takes longer: stays of all sites once began their search in one place,
// which nothing but a profile of the collector showed.
//
// Linear probing needs 2.5 looks on average where three slots of four are taken, which is the most that these tables
// let be taken. Pages of the heap come four side by side, in one line of the cache: what probes is such a line, four
// looks long.
#include "cli/collect/books/live_heap.h"
#include "cli/collect/books/stay_book.h"
#include "cli/collect/rings/call_tree.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>

namespace heapprof::cli {
namespace {

constexpr double kMostProbes = 3;
constexpr double kMostPageProbes = 6;

TEST_CASE("stays of many sites in few stretches lie apart, at any load") {
  for (const uint32_t stride : {1u, 2u, 3u, 64u}) {
    StayBounds bounds;
    StayBook book;
    book.set_bounds(&bounds);
    bounds.start(1);
    for (uint64_t ticks = 1; ticks < 5; ++ticks) bounds.add(ticks * 1'000'000);
    for (uint32_t site = 1; site < 60'000; ++site) {
      for (uint64_t begin = 0; begin < 4; ++begin) book.end(site * stride, {begin * 1'000'000 + 10, 4'900'000}, 8, 1);
      if (site % 1'000 != 0) continue;
      CAPTURE(stride, site);
      REQUIRE(book.mean_probes() > 0.9);
      REQUIRE(book.mean_probes() < kMostProbes);
    }
  }
}

void descend(CallTree* tree, uint32_t* node, uint32_t* hash, uint32_t location) {
  *hash = CallTree::hash_step(*hash, location);
  *node = tree->descend(*hash, *node, location).node;
}

TEST_CASE("nodes of a call tree lie apart: a wide one, a deep one, one like a program's") {
  CallTree wide;
  CallTree deep;
  CallTree bushy;
  std::mt19937 random(5);
  uint32_t deep_node = 0;
  uint32_t deep_hash = CallTree::kRootHash;
  for (uint32_t i = 1; i < 100'000; ++i) {
    uint32_t node = 0;
    uint32_t hash = CallTree::kRootHash;
    descend(&wide, &node, &hash, i);
    descend(&deep, &deep_node, &deep_hash, 1 + i % 3);
    node = 0;
    hash = CallTree::kRootHash;
    for (uint32_t depth = 0; depth < 12; ++depth)
      descend(&bushy, &node, &hash, 1 + depth * 16 + static_cast<uint32_t>(random() % 3));
    if (i % 1'000 != 0) continue;
    CAPTURE(i);
    REQUIRE(wide.mean_probes() < kMostProbes);
    REQUIRE(deep.mean_probes() < kMostProbes);
    REQUIRE(bushy.mean_probes() < kMostProbes);
  }
}

TEST_CASE("pages of live blocks lie apart, however blocks are spread") {
  for (const uint64_t stride : {48ull, 4096ull, 65536ull, 2ull << 20, (2ull << 20) + 4096, 1ull << 32}) {
    LiveHeap heap;
    for (uint64_t i = 0; i < 100'000; ++i) {
      bool is_new = false;
      heap.insert(0x7f0000000010 + i * stride % (uint64_t{1} << 46), &is_new)->size_word = 1;
      if (i % 5'000 != 0) continue;
      CAPTURE(stride, i);
      REQUIRE(heap.mean_probes() < kMostPageProbes);
    }
  }
}

}  // namespace
}  // namespace heapprof::cli
