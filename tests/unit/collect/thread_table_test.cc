// tests/unit/collect/thread_table_test.cc: which thread a ring is of, when its slot is used again, and whose name is
// read.
#include "cli/collect/rings/thread_table.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

TEST_CASE("a thread with two rings is one thread, and ends when both are left") {
  ThreadTable table;
  const uint32_t slot = table.enter(7);
  CHECK(table.enter(7) == slot);
  table[slot].allocations = 5;
  table.leave(slot);
  table.left(slot);
  CHECK(table.enter(7) == slot);  // still there
  table.leave(slot);
  table.left(slot);
  table.leave(slot);
  CHECK(table.enter(7) != slot);  // the same number, another thread; the ledger has not caught up
  table.left(slot);
  std::vector<Thread> threads;
  Thread others;
  uint64_t others_count = 0;
  table.finish(&threads, &others, &others_count);
  REQUIRE(threads.size() == 1);
  CHECK(threads[0].allocations == 5);
}

TEST_CASE("a slot is used again when its thread's last block is gone") {
  ThreadTable table;
  const uint32_t slot = table.enter(1);
  table[slot].last_address = 0x10;
  table.leave(slot);
  table.left(slot);
  CHECK(table.enter(2) != slot);
  table.release(slot);
  CHECK(table.enter(3) == slot);
  CHECK(table[slot].last_address == 0);
  CHECK(table[slot].id == 3);
}

TEST_CASE("a million threads one after another stay few") {
  ThreadTable table;
  uint32_t largest_slot = 0;
  for (uint32_t i = 1; i <= 1'000'000; ++i) {
    const uint32_t slot = table.enter(i % 30'000 + 1);
    largest_slot = std::max(largest_slot, slot);
    table[slot].allocations = 1;
    table[slot].total_bytes = i * 7919ull % 1'000'003;
    table[slot].frees = 2;
    table.leave(slot);
    table.left(slot);
  }
  CHECK(largest_slot == 1);
  CHECK(table.sum().allocations == 1'000'000);
  std::vector<Thread> threads;
  Thread others;
  uint64_t others_count = 0;
  table.finish(&threads, &others, &others_count);
  REQUIRE(threads.size() == ThreadTable::kKept);
  CHECK(others_count == 1'000'000 - ThreadTable::kKept);
  CHECK(others.frees == 2 * others_count);
  for (size_t i = 0; i < threads.size(); ++i) REQUIRE(threads[i].total_bytes == 1'000'002 - i);
}

TEST_CASE("names are read for new threads first, then again for live ones") {
  ThreadTable table;
  const uint32_t a = table.enter(1), b = table.enter(2), c = table.enter(3);
  for (const uint32_t slot : {a, b, c}) table[slot].allocations = slot;
  std::vector<uint32_t> asked;
  const auto reader = [&asked](uint32_t id) {
    asked.push_back(id);
    return id == 2 && asked.size() > 3 ? std::string() : "t" + std::to_string(id);
  };
  CHECK(table.unnamed_count() == 3);
  table.refresh_names(2, reader);
  CHECK(table.unnamed_count() == 1);
  table.leave(b);
  table.left(b);
  table.refresh_names(10, reader);
  std::vector<Thread> threads;
  Thread others;
  uint64_t others_count = 0;
  table.finish(&threads, &others, &others_count);
  for (const Thread& thread : threads) CHECK(thread.name == "t" + std::to_string(thread.id));
}

}  // namespace
}  // namespace heapprof::cli
