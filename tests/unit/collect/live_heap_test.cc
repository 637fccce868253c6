// tests/unit/collect/live_heap_test.cc: the table of live blocks against a std::map, for orderly and for hostile
// addresses, and when it may not grow.
#include "cli/collect/books/live_heap.h"

#include <catch2/catch.hpp>

#include <new>
#include <random>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {
namespace {

TEST_CASE("a live heap finds what was inserted, and nothing else") {
  LiveHeap heap;
  bool is_new = false;
  heap.insert(0x1000, &is_new)->size_bytes = 1235;
  CHECK(is_new);
  CHECK(heap.find(0x1000)->size_bytes == 1235);
  CHECK(heap.find(0x1010) == nullptr);
  CHECK(heap.insert(0x1000, &is_new)->size_bytes == 1235);
  CHECK_FALSE(is_new);
  CHECK(heap.size() == 1);

  Block block{};
  CHECK(heap.take(0x1000, &block));
  CHECK(block.size_bytes == 1235);
  CHECK_FALSE(heap.take(0x1000, &block));
  CHECK(heap.size() == 0);
}

// The number whose product with this odd one is 1.
constexpr uint64_t inverse(uint64_t odd) {
  uint64_t result = odd;
  for (int i = 0; i < 6; ++i) result *= 2 - odd * result;
  return result;
}
static_assert(inverse(0x9E3779B97F4A7C15) == 0xF1DE83E19937733D);

// Address patterns: what allocators do (ascending), and what a hostile or unlucky one might.
void compare_with_map(const std::vector<uint64_t>& addresses, uint32_t seed) {
  LiveHeap heap;
  std::unordered_map<uint64_t, uint64_t> reference;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 400'000; ++i) {
    const uint64_t address = addresses[random() % addresses.size()];
    Block taken{};
    if (random() % 100 < 55) {
      bool is_new = false;
      Block* block = heap.insert(address, &is_new);
      REQUIRE(is_new == (reference.count(address) == 0));
      block->size_bytes = random();
      reference[address] = block->size_bytes;
    } else if (heap.take(address, &taken)) {
      REQUIRE(reference.at(address) == taken.size_bytes);
      reference.erase(address);
    } else {
      REQUIRE(reference.count(address) == 0);
    }
  }
  REQUIRE(heap.size() == reference.size());
  for (const auto& [address, size_bytes] : reference) {
    REQUIRE(heap.find(address) != nullptr);
    REQUIRE(heap.find(address)->size_bytes == size_bytes);
  }
  size_t visited = 0;
  heap.for_each([&](const Block& block) { visited += reference.count(block.address); });
  CHECK(visited == reference.size());
}

TEST_CASE("a live heap agrees with a map") {
  std::vector<uint64_t> addresses;
  SECTION("ascending blocks") {
    for (uint64_t i = 0; i < 50'000; ++i) addresses.push_back(0x555555000010 + 48 * i);
  }
  SECTION("pages") {
    for (uint64_t i = 0; i < 50'000; ++i) addresses.push_back(0x7f0000000000 + 4096 * i);
  }
  SECTION("one cluster that wraps around the end of a segment") {
    // Addresses whose hash is near the top of its range: they all want the last places.
    std::mt19937_64 random(5);
    // The inverse of the hash: each of its steps can be undone.
    constexpr uint64_t kFirst = 0xF1DE83E19937733D, kSecond = inverse(0xD6E8FEB86659FD93);
    for (uint64_t i = 0; i < 60; ++i) {
      uint64_t hash = (UINT64_MAX - (random() & 0xffffffff)) * kSecond;
      addresses.push_back((hash ^ hash >> 32) * kFirst);
    }
  }
  SECTION("anything") {
    std::mt19937_64 random(7);
    for (int i = 0; i < 30'000; ++i) addresses.push_back(random() | 1);
  }
  compare_with_map(addresses, 42);
}

TEST_CASE("a live heap that may not grow uses what it has, and then refuses without a change") {
  LiveHeap heap;
  heap.stop_growing();
  bool is_new = false;
  uint64_t count = 0;
  uint64_t refused = 0;
  for (uint64_t address = 16; refused == 0; address += 16) {
    try {
      heap.insert(address, &is_new);
      ++count;
    } catch (const std::bad_alloc&) {
      refused = address;
    }
  }
  CHECK(heap.size() == count);
  CHECK(heap.find(refused) == nullptr);  // the search ends
  Block block{};
  CHECK(heap.take(16, &block));
  CHECK(heap.size() == count - 1);
}

}  // namespace
}  // namespace heapprof::cli
