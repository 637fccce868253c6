// tests/unit/collect/live_heap_test.cc: the table of live blocks against a std::map, for orderly and for hostile
// addresses, and when it may not grow.
#include "cli/collect/books/live_heap.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <new>
#include <random>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {
namespace {

TEST_CASE("a live heap finds what was inserted, and nothing else") {
  LiveHeap heap;
  bool is_new = false;
  heap.insert(0x1000, &is_new)->size_word = 1235;
  CHECK(is_new);
  CHECK(heap.find(0x1000)->size_word == 1235);
  CHECK(heap.find(0x1010) == nullptr);
  CHECK(heap.insert(0x1000, &is_new)->size_word == 1235);
  CHECK_FALSE(is_new);
  CHECK(heap.size() == 1);

  Block block{};
  CHECK(heap.take(0x1000, &block));
  CHECK(block.size_bytes == 1235);
  CHECK_FALSE(heap.take(0x1000, &block));
  CHECK(heap.size() == 0);
}

TEST_CASE("a live heap takes any address but 0") {
  LiveHeap heap;
  bool is_new = false;
  std::vector<uint64_t> addresses = {UINT64_MAX, UINT64_MAX - 1,   1,         2, 15, 16, 17,
                                     1ull << 63, (1ull << 63) + 1, 1ull << 60};
  for (uint64_t i = 1; i < 5000; ++i) addresses.push_back(0x7f0000000000 + i);  // a block at each byte
  for (const uint64_t address : addresses) {
    REQUIRE(heap.find(address) == nullptr);
    heap.insert(address, &is_new)->birth = ~address;
    REQUIRE(is_new);
  }
  std::unordered_map<uint64_t, uint64_t> seen;
  heap.for_each([&seen](const Block& block) { seen[block.address] = block.birth; });
  REQUIRE(seen.size() == addresses.size());
  for (const uint64_t address : addresses) REQUIRE(seen.at(address) == ~address);
  CHECK(heap.find(0) == nullptr);
}

// The number whose product with this odd one is 1.
constexpr uint64_t inverse(uint64_t odd) {
  uint64_t result = odd;
  for (int i = 0; i < 6; ++i) result *= 2 - odd * result;
  return result;
}
static_assert(inverse(0x9E3779B97F4A7C15) == 0xF1DE83E19937733D);

// Addresses of pages whose hash is the last one there is. Each step of the hash can be undone; the bits that it does
// not use tell them apart.
std::vector<uint64_t> colliding_addresses(size_t count) {
  constexpr uint64_t kFirst = 0xF1DE83E19937733D, kSecond = inverse(0xD6E8FEB86659FD93);
  std::vector<uint64_t> addresses;
  for (uint64_t low = 0; addresses.size() < count; ++low) {
    uint64_t hash = (uint64_t{UINT32_MAX} << 32 | low) * kSecond;
    const uint64_t group = (hash ^ hash >> 32) * kFirst;
    const uint64_t page = group * 4 + 2;
    if (group >> 55 == 0) addresses.push_back(page << 11 | page >> 53);
  }
  return addresses;
}

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
      LiveHeap::Entry* block = heap.insert(address, &is_new);
      REQUIRE(is_new == (reference.count(address) == 0));
      block->size_word = size_of(random());
      reference[address] = block->size_word;
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
    REQUIRE(heap.find(address)->size_word == size_bytes);
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
  SECTION("pages that all want the last places of one part") { addresses = colliding_addresses(200); }
  SECTION("more pages of one hash than a part has places") { addresses = colliding_addresses(1500); }
  SECTION("bytes of a few pages") {
    for (uint64_t i = 0; i < 30'000; ++i) addresses.push_back(0x7f0000000000 + i);
  }
  SECTION("anything") {
    std::mt19937_64 random(7);
    for (int i = 0; i < 30'000; ++i) addresses.push_back(random() | 1);
  }
  compare_with_map(addresses, 42);
}

TEST_CASE("a live heap that may not grow uses what it has, and then refuses without a change") {
  const uint64_t distance = GENERATE(16u, 48u, 512u, 1u << 20);
  const uint64_t before = GENERATE(0u, 100'000u);
  LiveHeap heap;
  bool is_new = false;
  for (uint64_t i = 1; i <= before; ++i) heap.insert(i * distance, &is_new);
  heap.stop_growing();
  const uint64_t bytes = heap.bytes();
  uint64_t refused = 0;
  for (uint64_t i = before + 1; refused == 0; ++i) {
    try {
      heap.insert(i * distance, &is_new);
      REQUIRE(heap.size() == i);
    } catch (const std::bad_alloc&) {
      refused = i;
    }
  }
  CHECK(refused > before + 500);                           // what a finish may still put down
  CHECK(heap.bytes() - bytes <= (2 << 20) + (256 << 10));  // of what was mapped already
  CHECK(heap.size() == refused - 1);
  CHECK(heap.find(refused * distance) == nullptr);
  for (uint64_t i = 1; i < refused; ++i) REQUIRE(heap.find(i * distance) != nullptr);
  Block block{};
  CHECK(heap.take(distance, &block));
  CHECK(heap.size() == refused - 2);
  heap.insert(distance, &is_new);  // what was taken out can always be put back
  CHECK(is_new);
  size_t visited = 0;
  heap.for_each([&visited](const Block&) { ++visited; });
  CHECK(visited == refused - 1);
}

double bytes_a_block(const LiveHeap& heap) {
  return static_cast<double>(heap.bytes()) / static_cast<double>(heap.size());
}

TEST_CASE("a live heap takes 40 bytes a block where blocks lie close, and 96 wherever they lie") {
  constexpr uint64_t kBlocks = 1'000'000;
  LiveHeap heap;
  bool is_new = false;
  std::mt19937_64 random(3);
  SECTION("blocks of 16 to 128 bytes side by side") {
    const uint64_t distance = GENERATE(16u, 32u, 48u, 64u, 80u, 96u, 112u, 128u);
    for (uint64_t i = 1; i <= kBlocks; ++i) heap.insert(0x555555000000 + i * distance, &is_new);
    CHECK(bytes_a_block(heap) <= (distance == 112 ? 45 : 40));  // 18 to 19 in a page need three runs
  }
  SECTION("blocks of 48 bytes that come in any order") {
    std::vector<uint64_t> addresses;
    for (uint64_t i = 0; i < kBlocks; ++i) addresses.push_back(0x555555000000 + i * 48);
    std::shuffle(addresses.begin(), addresses.end(), random);
    for (const uint64_t address : addresses) heap.insert(address, &is_new);
    CHECK(bytes_a_block(heap) <= 48);
  }
  SECTION("64 KiB apart") {
    for (uint64_t i = 1; i <= kBlocks; ++i) heap.insert(i << 16, &is_new);
    CHECK(bytes_a_block(heap) <= 96);
  }
  SECTION("at any 48 bits") {
    for (uint64_t i = 0; i < kBlocks; ++i) heap.insert(random() >> 16 | 1, &is_new);
    CHECK(bytes_a_block(heap) <= 96);
  }
  SECTION("at any 64 bits") {
    for (uint64_t i = 0; i < kBlocks; ++i) heap.insert(random() | 1, &is_new);
    CHECK(bytes_a_block(heap) <= 96);
  }
  SECTION("of any sizes") {
    for (uint64_t i = 0, address = 4096; i < kBlocks; ++i, address += 16 + random() % 4096 / 16 * 16)
      heap.insert(address, &is_new);
    CHECK(bytes_a_block(heap) <= 96);
  }
}

TEST_CASE("a live heap makes nothing for a look-up, and keeps nothing of a page without blocks") {
  LiveHeap heap;
  bool is_new = false;
  Block block{};
  std::mt19937_64 random(4);
  const uint64_t empty_bytes = heap.bytes();
  for (int i = 0; i < 300'000; ++i) {
    const uint64_t address = random() | 1;
    REQUIRE(heap.find(address) == nullptr);
    REQUIRE_FALSE(heap.take(address, &block));
  }
  CHECK(heap.bytes() == empty_bytes);

  // A heap that wanders: the memory of one place serves the next.
  const uint64_t distance = GENERATE(16u, 100u, 4096u);
  uint64_t first_round_bytes = 0;
  for (uint64_t round = 0; round < 50; ++round) {
    const uint64_t base = round << 32 | 16;
    for (uint64_t i = 0; i < 10'000; ++i) heap.insert(base + i * distance, &is_new);
    if (round == 0) first_round_bytes = heap.bytes();
    for (uint64_t i = 0; i < 10'000; ++i) REQUIRE(heap.take(base + i * distance, &block));
  }
  CHECK(heap.size() == 0);
  CHECK(heap.bytes() <= first_round_bytes * 3 / 2);
}

}  // namespace
}  // namespace heapprof::cli
