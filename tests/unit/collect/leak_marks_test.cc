// tests/unit/collect/leak_marks_test.cc: what can be reached, on made-up memories: each kind by a small one, and random
// ones against a search that tries everything.
#include "cli/collect/leaks/leak_marks.h"

#include "tests/support/leak_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace heapprof::cli {

using namespace heapprof::test;  // NOLINT(google-build-using-namespace)

namespace {

TEST_CASE("a table of blocks finds what an address lies in") {
  const BlockTable table({block(0x20000, 24), block(0x10000, 0), block(0x10010, 10'000'000), block(0x7f0000000010, 100),
                          block(0x20018, 16), block(UINT64_MAX - 7, 64)});
  CHECK(table.size() == 3);  // one lies within another, as do two more: no allocator's; one is nowhere
  CHECK(table.find(0) == BlockTable::kNone);
  CHECK(table.find(0x10000) == 0);
  CHECK(table.find(0x10001) == BlockTable::kNone);
  CHECK(table.find(0x10010) == 1);
  CHECK(table.find(0x10010 + 9'999'999) == 1);
  CHECK(table.find(0x10010 + 10'000'000) == BlockTable::kNone);
  CHECK(table.find(0x7f0000000073) == 2);
  CHECK(table.find(0x7f0000000074) == BlockTable::kNone);
  CHECK(table.find(UINT64_MAX) == BlockTable::kNone);
  CHECK(table.first_behind(0x10000) == 0);
  CHECK(table.first_behind(0x10001) == 1);
  CHECK(table.first_behind(0x7f0000000074) == 3);
}

TEST_CASE("a table of random blocks agrees with a search of all") {
  std::mt19937_64 random(4711);
  std::vector<LeakBlock> blocks;
  uint64_t at = 0x400000;
  for (int i = 0; i < 3000; ++i) {
    at += 16 * (random() % 8) + (random() % 64 == 0 ? random() % (1 << 24) & ~uint64_t{15} : 0);
    const uint64_t size_bytes = random() % 50 == 0 ? random() % 100'000 : random() % 200;
    blocks.push_back(block(at, size_bytes));
    at += (size_bytes + 16) & ~uint64_t{15};
  }
  std::vector<LeakBlock> shuffled = blocks;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  const BlockTable table(shuffled);
  REQUIRE(table.size() == blocks.size());
  for (int i = 0; i < 100'000; ++i) {
    const LeakBlock& near = blocks[random() % blocks.size()];
    const uint64_t address = near.start - 40 + random() % (near.size_bytes + 80);
    uint32_t expected = BlockTable::kNone;
    for (uint32_t k = 0; k < blocks.size() && blocks[k].start <= address; ++k) {
      if (address < blocks[k].end()) expected = k;
    }
    REQUIRE(table.find(address) == expected);
  }
}

TEST_CASE("what a chain of pointers leads to is reachable, and a stale pointer in a freed block is none") {
  MemoryScene scene({block(0x10000, 64), block(0x10100, 64), block(0x10200, 64)});
  scene.memory.set(kRoots + 8, 0x10000);
  scene.memory.set(0x10010, 0x10100);
  scene.memory.set(0x10180, 0x10200);  // not in a block: it was freed
  scene.judge();
  CHECK(scene.kind_at(0x10000) == LeakKind::kReachable);
  CHECK(scene.kind_at(0x10100) == LeakKind::kReachable);
  CHECK(scene.kind_at(0x10200) == LeakKind::kLost);
}

TEST_CASE("what only inner pointers lead to is possibly lost, with all behind it, unless a better way leads there") {
  MemoryScene scene({block(0x10000, 64), block(0x10100, 64), block(0x10200, 64), block(0x10300, 64)});
  scene.memory.set(kRoots, 0x10000 + 40);
  scene.memory.set(0x10010, 0x10100);
  scene.memory.set(0x10020, 0x10200);
  scene.memory.set(kRoots + 16, 0x10300);
  scene.memory.set(0x10308, 0x10200);
  scene.judge();
  CHECK(scene.kind_at(0x10000) == LeakKind::kPossiblyLost);
  CHECK(scene.kind_at(0x10100) == LeakKind::kPossiblyLost);
  CHECK(scene.kind_at(0x10200) == LeakKind::kReachable);
}

TEST_CASE("of blocks that are lost the first of a chain is lost, wherever it stands, and one of a ring") {
  MemoryScene scene({block(0x10000, 64), block(0x10100, 64), block(0x10200, 64),    // the last one leads to the first
                     block(0x20000, 64), block(0x20100, 64), block(0x20200, 64)});  // a ring
  scene.memory.set(0x10208, 0x10100);
  scene.memory.set(0x10100, 0x10000 + 8);  // an inner pointer will do
  scene.memory.set(0x20000, 0x20100);
  scene.memory.set(0x20100, 0x20200);
  scene.memory.set(0x20200, 0x20000);
  scene.judge();
  CHECK(scene.kind_at(0x10000) == LeakKind::kIndirectly);
  CHECK(scene.kind_at(0x10100) == LeakKind::kIndirectly);
  CHECK(scene.kind_at(0x10200) == LeakKind::kLost);
  CHECK(scene.kind_at(0x20000) == LeakKind::kLost);
  CHECK(scene.kind_at(0x20100) == LeakKind::kIndirectly);
  CHECK(scene.kind_at(0x20200) == LeakKind::kIndirectly);
}

TEST_CASE("a block that leads to itself is lost, and a pointer behind the end is none") {
  MemoryScene scene({block(0x10000, 64), block(0x10040, 64)});
  scene.memory.set(0x10000, 0x10000);
  scene.memory.set(kRoots, 0x10080);
  scene.judge();
  CHECK(scene.kind_at(0x10000) == LeakKind::kLost);
  CHECK(scene.kind_at(0x10040) == LeakKind::kLost);
}

TEST_CASE("a block in the middle of a root counts where it is reached, and not as a root") {
  MemoryScene scene({block(kRoots + 0x40, 0x20), block(0x10000, 64), block(0x10100, 64)});
  scene.memory.set(kRoots + 0x48, 0x10000);  // in the block, which nobody points to
  scene.memory.set(kRoots + 0x60, 0x10100);  // behind it
  scene.judge();
  CHECK(scene.kind_at(kRoots + 0x40) == LeakKind::kLost);
  CHECK(scene.kind_at(0x10000) == LeakKind::kIndirectly);
  CHECK(scene.kind_at(0x10100) == LeakKind::kReachable);
}

TEST_CASE("the header of a free chunk, in libc's data, is no pointer into the block before it") {
  for (const bool is_libc : {true, false}) {
    MemoryScene scene({block(0x10010, 24)});
    scene.memory.set(kRoots, 0x10020);  // its last word, with which the next chunk's header begins
    scene.judge(is_libc);
    CHECK(scene.kind_at(0x10010) == (is_libc ? LeakKind::kLost : LeakKind::kPossiblyLost));
  }
}

TEST_CASE("inner pointers that libraries keep in place of one to the start") {
  const auto kind_with = [](uint64_t size_bytes, uint64_t offset, std::map<uint64_t, uint64_t> words) {
    MemoryScene scene({block(0x10000, size_bytes)});
    for (const auto& [at, word] : words) scene.memory.set(0x10000 + at, word);
    scene.memory.set(kRoots, 0x10000 + offset);
    scene.judge();
    return scene.kind_at(0x10000);
  };
  CHECK(kind_with(24 + 40 + 1, 24, {{0, 33}, {8, 40}}) == LeakKind::kReachable);     // characters of an old string
  CHECK(kind_with(24 + 40 + 2, 24, {{0, 33}, {8, 40}}) == LeakKind::kPossiblyLost);  // of another capacity
  CHECK(kind_with(24 + 40 + 1, 24, {{0, 41}, {8, 40}}) == LeakKind::kPossiblyLost);  // longer than its capacity
  CHECK(kind_with(8 + 7 * 20, 8, {{0, 7}}) == LeakKind::kReachable);                 // new Element[7]
  CHECK(kind_with(8 + 7 * 20, 8, {{0, 9}}) == LeakKind::kPossiblyLost);
  CHECK(kind_with(8 + 7 * 20, 16, {{0, 7}}) == LeakKind::kPossiblyLost);
  CHECK(kind_with(8 + 400, 8, {{0, 400}}) == LeakKind::kReachable);  // behind its size
  CHECK(kind_with(64, 32, {{0, FakeMemory::kTables}, {32, FakeMemory::kTables + 64}}) == LeakKind::kReachable);
  CHECK(kind_with(64, 32, {{0, FakeMemory::kTables}, {32, 0x4000}}) == LeakKind::kPossiblyLost);
  CHECK(kind_with(64, 36, {{0, FakeMemory::kTables}, {32, FakeMemory::kTables + 64}}) == LeakKind::kPossiblyLost);
}

TEST_CASE("registers are roots, and a search that has to stop says so") {
  MemoryScene scene({block(0x10000, 64), block(0x10100, 64)});
  const std::vector<uint64_t> registers = {0, 0x10000, 0x10101};
  scene.marks.add_root_words(registers);
  scene.judge();
  CHECK(scene.kind_at(0x10000) == LeakKind::kReachable);
  CHECK(scene.kind_at(0x10100) == LeakKind::kPossiblyLost);
  CHECK_FALSE(scene.marks.is_interrupted());
  MemoryScene stopped({block(0x10000, 64)});
  stopped.marks.set_interrupt([] { return true; });
  stopped.judge();
  CHECK(stopped.marks.is_interrupted());
}

// What each block is, by trying all: closures of sets, and of the lost ones those that no other lost one leads to
// (with one of each ring that nothing leads into).
std::vector<LeakKind> judge_slowly(const std::vector<std::vector<std::pair<size_t, bool>>>& edges,
                                   const std::vector<std::pair<size_t, bool>>& roots) {
  const size_t count = edges.size();
  std::set<size_t> reached;
  std::set<size_t> suspected;
  for (bool grows = true; grows;) {
    const size_t before = reached.size() + suspected.size();
    const auto follow = [&](std::pair<size_t, bool> edge, bool is_certain) {
      (is_certain && edge.second ? reached : suspected).insert(edge.first);
    };
    for (const auto& edge : roots) follow(edge, true);
    for (const size_t from : std::set<size_t>(reached)) {
      for (const auto& edge : edges[from]) follow(edge, true);
    }
    for (const size_t from : std::set<size_t>(suspected)) {
      for (const auto& edge : edges[from]) follow(edge, false);
    }
    grows = reached.size() + suspected.size() != before;
  }
  const auto closure_of = [&](size_t from) {
    std::set<size_t> closure = {from};
    for (bool grows = true; grows;) {
      const size_t before = closure.size();
      for (const size_t at : std::set<size_t>(closure)) {
        for (const auto& edge : edges[at]) closure.insert(edge.first);
      }
      grows = closure.size() != before;
    }
    return closure;
  };
  std::vector<std::set<size_t>> closures;
  for (size_t i = 0; i < count; ++i) closures.push_back(closure_of(i));
  std::vector<LeakKind> kinds;
  for (size_t i = 0; i < count; ++i) {
    bool is_first = true;
    for (size_t other = 0; other < count; ++other) {
      const bool is_lost = !reached.contains(other) && !suspected.contains(other);
      if (other == i || !is_lost || !closures[other].contains(i)) continue;
      if (!closures[i].contains(other) || other < i) is_first = false;  // it leads here, and not back, or it is smaller
    }
    kinds.push_back(reached.contains(i)     ? LeakKind::kReachable
                    : suspected.contains(i) ? LeakKind::kPossiblyLost
                    : is_first              ? LeakKind::kLost
                                            : LeakKind::kIndirectly);
  }
  return kinds;
}

TEST_CASE("random memories are judged as by trying all") {
  std::mt19937_64 random(1235);
  for (int round = 0; round < 400; ++round) {
    const size_t count = 1 + random() % 30;
    std::vector<LeakBlock> blocks;
    for (size_t i = 0; i < count; ++i) blocks.push_back(block(0x10000 + 0x100 * i, 0x90));
    MemoryScene scene(blocks);
    std::vector<std::vector<std::pair<size_t, bool>>> edges(count);
    std::vector<std::pair<size_t, bool>> roots;
    const auto target = [&](uint64_t at, std::vector<std::pair<size_t, bool>>* from) {
      const size_t to = random() % count;
      const bool is_start = random() % 3 != 0;
      scene.memory.set(at, 0x10000 + 0x100 * to + (is_start ? 0 : 0x35));
      from->push_back({to, is_start});
    };
    for (size_t i = 0; i < count; ++i) {
      for (uint64_t word = random() % 3; word > 0; --word) target(0x10000 + 0x100 * i + 8 * word, &edges[i]);
    }
    for (uint64_t word = random() % 4; word > 0; --word) target(kRoots + 8 * word, &roots);
    scene.judge();
    const std::vector<LeakKind> expected = judge_slowly(edges, roots);
    for (uint32_t i = 0; i < count; ++i) REQUIRE(scene.table[i].kind == expected[i]);
  }
}

}  // namespace
}  // namespace heapprof::cli
