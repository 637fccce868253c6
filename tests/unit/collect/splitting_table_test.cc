// tests/unit/collect/splitting_table_test.cc: the table that grows by parts: against a map, with hashes that are good
// and hashes that are all alike, and when there is no memory.
#include "cli/collect/memory/splitting_table.h"

#include <catch2/catch.hpp>

#include <map>
#include <new>
#include <random>

namespace heapprof::cli {
namespace {

struct Slot {
  uint64_t key;
  uint32_t hash;
  uint32_t value;

  bool is_free() const { return key == 0; }
};
using Table = SplittingTable<Slot>;

Table::Key key_of(const Slot& slot) { return {slot.hash, 0}; }

Slot* find(const Table& table, const Slot& wanted) {
  return table.find(wanted.hash, 0, [&wanted](const Slot& slot) { return slot.key == wanted.key; });
}

TEST_CASE("a splitting table agrees with a map") {
  // How much of a hash differs at all, from nothing to everything.
  const uint32_t mask = GENERATE(0u, 1u, 0x3ffu, 0x80000000u, 0xfff00000u, UINT32_MAX);
  SlabPool pool;
  Table table(&pool);
  std::map<uint64_t, Slot> reference;
  std::mt19937_64 random(mask);
  const uint64_t keys = mask == UINT32_MAX || mask == 0xfff00000u ? 20'000 : 1'000;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t key = 1 + random() % keys;
    const Slot wanted{key, static_cast<uint32_t>(key * 0x9E3779B97F4A7C15ull >> 32) & mask, static_cast<uint32_t>(i)};
    Slot* slot = find(table, wanted);
    REQUIRE((slot != nullptr) == (reference.count(key) != 0));
    if (slot == nullptr) {
      REQUIRE(table.insert(key_of(wanted), wanted, key_of)->key == key);
      reference[key] = wanted;
    } else {
      REQUIRE(slot->value == reference[key].value);
      if (random() % 2 == 0) continue;
      table.erase(slot, key_of);
      reference.erase(key);
    }
  }
  size_t count = 0;
  table.for_each([&](const Slot& slot) { count += reference.at(slot.key).value == slot.value ? 1 : 0; });
  CHECK(count == reference.size());
  for (const auto& [key, slot] : reference) REQUIRE(find(table, slot) != nullptr);
}

TEST_CASE("a splitting table does not grow with hashes that are alike beyond its deepest directory") {
  SlabPool pool;
  Table table(&pool);
  for (uint64_t key = 1; key <= 5000; ++key) {
    const Slot slot{key, 0xffffffff, 0};
    table.insert(key_of(slot), slot, key_of);
  }
  CHECK(table.directory_bytes() <= 8 << 20);
  CHECK(table.parts() <= Table::kMaxDepth + 2 + 5000 / (Table::kSlots - 1));
  for (uint64_t key = 1; key <= 5000; ++key) REQUIRE(find(table, {key, 0xffffffff, 0}) != nullptr);
}

TEST_CASE("a splitting table without memory is filled, and then refuses without a change") {
  SlabPool pool;
  Table table(&pool);
  std::mt19937 random(2);
  uint64_t key = 1;
  const auto insert = [&] {
    const Slot slot{key, static_cast<uint32_t>(key * 0x9E3779B97F4A7C15ull >> 32), 0};
    table.insert(key_of(slot), slot, key_of);
    ++key;
  };
  for (int i = 0; i < 20'000; ++i) insert();
  pool.stop_growing();
  CHECK_THROWS_AS(
      [&] {
        for (;;) insert();
      }(),
      std::bad_alloc);
  CHECK(key > 20'000 + table.parts() * 10);
  size_t count = 0;
  table.for_each([&count](const Slot&) { ++count; });
  CHECK(count == key - 1);
  for (uint64_t known = 1; known < key; ++known)
    REQUIRE(find(table, {known, static_cast<uint32_t>(known * 0x9E3779B97F4A7C15ull >> 32), 0}) != nullptr);
}

}  // namespace
}  // namespace heapprof::cli
