// tests/unit/collect/lost_owners_test.cc: who owns what is lost, on made-up memories, and on random ones against a
// search that tries everything.
#include "cli/collect/leaks/leak_marks.h"
#include "tests/support/leak_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace heapprof;
using namespace heapprof::cli;
using namespace heapprof::test;

TEST_CASE("what is lost counts with the block that leads to it, by site, and with a ring of all its sites") {
  MemoryScene scene({block(0x10000, 100, 7), block(0x10100, 64, 8), block(0x10200, 64, 8),  // one leads to two
                     block(0x10300, 100, 7),                                                // and one to none
                     block(0x20000, 40, 3), block(0x20100, 48, 4),
                     block(0x20200, 1000, 9),                         // a ring of two, with one more
                     block(0x30000, 40, 3), block(0x30100, 48, 4)});  // and another ring
  scene.memory.set(0x10008, 0x10100);
  scene.memory.set(0x10010, 0x10200);
  scene.memory.set(0x20000, 0x20100);
  scene.memory.set(0x20100, 0x20000);
  scene.memory.set(0x20108, 0x20200);
  scene.memory.set(0x30000, 0x30100 + 8);
  scene.memory.set(0x30100, 0x30000);
  scene.judge();
  const std::vector<LostOwner> expected = {{{{4, 96, 2}, {3, 80, 2}}, true, 2, 1176, 5},
                                           {{{7, 200, 2}}, false, 2, 328, 4}};
  CHECK(scene.marks.lost_owners() == expected);
}

TEST_CASE("a ring has no owner that leads into it from outside, and what leads in is the owner") {
  MemoryScene scene({block(0x10000, 64, 1), block(0x20000, 64, 2), block(0x20100, 64, 3)});
  scene.memory.set(0x10000, 0x20100);
  scene.memory.set(0x20000, 0x20100);
  scene.memory.set(0x20100, 0x20000);
  scene.judge();
  CHECK(scene.marks.lost_owners() == std::vector<LostOwner>{{{{1, 64, 1}}, false, 1, 192, 3}});
}

TEST_CASE("blocks that were not recorded lead to others, and count nowhere") {
  MemoryScene scene({block(0x10000, 64, 0), block(0x10100, 80, 5), block(0x20000, 64, 0), block(0x20100, 64, 6),
                     block(0x30000, 64, 0)});
  scene.memory.set(0x10000, 0x10100);
  scene.memory.set(0x20000, 0x20100);
  scene.memory.set(0x20100, 0x20000);
  scene.judge();
  const std::vector<LostOwner> expected = {{{{6, 64, 1}}, true, 1, 64, 1}, {{}, false, 1, 80, 1}};
  CHECK(scene.marks.lost_owners() == expected);
}

TEST_CASE("owners are bounded: of a ring the largest sites are named, and many owners' rest is summed") {
  std::vector<LeakBlock> blocks;
  for (uint32_t i = 0; i < 6; ++i) blocks.push_back(block(0x10000 + 0x100 * i, 64 + i, 100 + i));  // a ring of 6 sites
  for (uint32_t i = 0; i < 300; ++i) blocks.push_back(block(0x20000 + 0x1000 * i, 1000 + i, 1000 + i));
  MemoryScene scene(blocks);
  for (uint64_t i = 0; i < 6; ++i) scene.memory.set(0x10000 + 0x100 * i, 0x10000 + 0x100 * ((i + 1) % 6));
  scene.judge();
  const std::vector<LostOwner>& owners = scene.marks.lost_owners();
  REQUIRE(owners.size() == LeakMarks::kMostOwners);
  CHECK(owners[0] == LostOwner{{{1299, 1299, 1}}, false, 1, 1299, 1});
  CHECK(owners.back().parts.empty());
  CHECK(owners.back().owners == 301 - 255);
  uint64_t bytes = 0;
  for (const LostOwner& owner : owners) bytes += owner.bytes;
  CHECK(bytes == 300 * 1000 + 299 * 150 + 6 * 64 + 15);
  MemoryScene ring({blocks.begin(), blocks.begin() + 6});
  for (uint64_t i = 0; i < 6; ++i) ring.memory.set(0x10000 + 0x100 * i, 0x10000 + 0x100 * ((i + 1) % 6));
  ring.judge();
  const std::vector<LostPart> largest = {{105, 69, 1}, {104, 68, 1}, {103, 67, 1}, {102, 66, 1}};
  CHECK(ring.marks.lost_owners() == std::vector<LostOwner>{{largest, true, 1, 6 * 64 + 15, 6}});
}

namespace {

using Edges = std::vector<std::vector<size_t>>;

bool is_lost(const LeakBlock& it) { return it.kind == LeakKind::kLost || it.kind == LeakKind::kIndirectly; }

// The block and all that it leads to among the lost ones, by going on as long as there is more.
std::set<size_t> closure_of(const Edges& edges, size_t from, const BlockTable& table) {
  std::set<size_t> closure = {from};
  for (bool grows = true; grows;) {
    const size_t before = closure.size();
    for (const size_t at : std::set<size_t>(closure)) {
      for (const size_t to : edges[at]) {
        if (is_lost(table[static_cast<uint32_t>(to)])) closure.insert(to);
      }
    }
    grows = closure.size() != before;
  }
  return closure;
}

// Owners of one set of sites, as a search that tries all has them.
struct SlowOwner {
  uint64_t owners = 0;
  std::map<uint32_t, LostPart> parts;
  uint64_t least_bytes = 0;  // what no other owner leads to
  uint64_t most_bytes = 0;   // all that they lead to
};

using SlowOwners = std::map<std::pair<bool, std::vector<uint32_t>>, SlowOwner>;

SlowOwners own_slowly(const Edges& edges, const BlockTable& table) {
  std::vector<std::set<size_t>> closures;
  for (size_t i = 0; i < table.size(); ++i) closures.push_back(closure_of(edges, i, table));
  const auto is_owner = [&table](size_t at) { return table[static_cast<uint32_t>(at)].kind == LeakKind::kLost; };
  SlowOwners owners;
  for (size_t i = 0; i < table.size(); ++i) {
    if (!is_owner(i)) continue;
    std::map<uint32_t, LostPart> parts;
    size_t ring = 0;
    uint64_t least_bytes = 0;
    uint64_t most_bytes = 0;
    for (const size_t at : closures[i]) {
      const LeakBlock& it = table[static_cast<uint32_t>(at)];
      bool is_others = false;
      for (size_t k = 0; k < table.size(); ++k)
        is_others = is_others || (k != i && is_owner(k) && closures[k].contains(at));
      most_bytes += it.size_bytes;
      if (!is_others) least_bytes += it.size_bytes;
      if (!closures[at].contains(i)) continue;
      ++ring;
      parts.try_emplace(it.site, LostPart{it.site, 0, 0});
      parts[it.site].bytes += it.size_bytes;
      ++parts[it.site].blocks;
    }
    std::vector<uint32_t> sites;
    for (const auto& [site, part] : parts) sites.push_back(site);
    SlowOwner& owner = owners[{ring > 1, sites}];
    ++owner.owners;
    owner.least_bytes += least_bytes;
    owner.most_bytes += most_bytes;
    for (const auto& [site, part] : parts) {
      owner.parts.try_emplace(site, LostPart{site, 0, 0});
      owner.parts[site].bytes += part.bytes;
      owner.parts[site].blocks += part.blocks;
    }
  }
  return owners;
}

// pre: no more sites than LeakMarks::kMostParts
void check_owners(const LeakMarks& marks, const SlowOwners& expected, const BlockTable& table) {
  uint64_t lost_bytes = 0;
  uint64_t lost_blocks = 0;
  for (const LeakBlock& it : table.blocks()) {
    if (!is_lost(it)) continue;
    lost_bytes += it.size_bytes;
    ++lost_blocks;
  }
  REQUIRE(marks.lost_owners().size() == expected.size());
  for (const LostOwner& owner : marks.lost_owners()) {
    std::vector<uint32_t> sites;
    for (const LostPart& part : owner.parts) sites.push_back(part.site);
    std::sort(sites.begin(), sites.end());
    const auto found = expected.find({owner.is_ring, sites});
    REQUIRE(found != expected.end());
    REQUIRE(owner.owners == found->second.owners);
    REQUIRE(owner.bytes >= found->second.least_bytes);
    REQUIRE(owner.bytes <= found->second.most_bytes);
    for (const LostPart& part : owner.parts) REQUIRE(part == found->second.parts.at(part.site));
    lost_bytes -= owner.bytes;
    lost_blocks -= owner.blocks;
  }
  REQUIRE(lost_bytes == 0);
  REQUIRE(lost_blocks == 0);
}

}  // namespace

TEST_CASE("owners in random memories are those that a search of all finds") {
  std::mt19937_64 random(4712);
  size_t rings = 0;
  for (int round = 0; round < 1000; ++round) {
    const size_t count = 1 + random() % 30;
    std::vector<LeakBlock> blocks;
    for (size_t i = 0; i < count; ++i) {
      const auto site = static_cast<uint32_t>(1 + random() % LeakMarks::kMostParts);
      blocks.push_back(block(0x10000 + 0x100 * i, 0x90 - random() % 8, site));
    }
    MemoryScene scene(blocks);
    Edges edges(count);
    for (size_t i = 0; i < count; ++i) {
      for (uint64_t word = random() % 3; word > 0; --word) {
        const size_t to = random() % count;
        scene.memory.set(0x10000 + 0x100 * i + 8 * word, 0x10000 + 0x100 * to + (random() % 3 != 0 ? 0 : 0x35));
        edges[i].push_back(to);
      }
    }
    for (uint64_t word = random() % 2; word > 0; --word)
      scene.memory.set(kRoots + 8 * word, 0x10000 + 0x100 * (random() % count));
    scene.judge();
    check_owners(scene.marks, own_slowly(edges, scene.table), scene.table);
    for (const LostOwner& owner : scene.marks.lost_owners()) rings += owner.is_ring ? 1 : 0;
  }
  CHECK(rings > 50);
}
