// tests/unit/collect/root_holders_test.cc: who holds what is reachable, on made-up memories, and on random ones against
// a search from each holder alone.
#include "cli/collect/leaks/root_holders.h"

#include "tests/support/leak_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace heapprof;
using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

// Roots of a kind; of variables each module has one, v_MODULE, but those whose name begins with "-".
LeakRoot root(RootKind kind, uint64_t start, uint64_t bytes, const std::string& module = "") {
  LeakRoot root;
  root.range = {start, start + bytes};
  root.kind = kind;
  root.module = module;
  return root;
}

struct HeldScene : MemoryScene {
  using MemoryScene::MemoryScene;
  void hold(const std::vector<LeakRoot>& roots) {
    const auto read = [](const LeakRoot& root) {
      return root.module.starts_with("-") ? std::vector<Variable>()
                                          : std::vector<Variable>{{0, UINT64_MAX, "v_" + root.module}};
    };
    holders.mark(roots, {}, read, &marks);
    marks.finish();
  }
  // "variable v_a 2 1100", in their order.
  std::vector<std::string> sums() const {
    std::vector<std::string> texts;
    for (const HeldBlocks& one : holders.sum(table.blocks())) {
      const char* const kind = one.kind == RootKind::kVariable      ? "variable"
                               : one.kind == RootKind::kThreadLocal ? "thread-local"
                               : one.kind == RootKind::kMapped      ? "mapped"
                               : one.kind == RootKind::kStack       ? "stack"
                                                                    : "other";
      std::string names;
      for (const std::string& name : one.names) names += (names.empty() ? "" : "+") + name;
      if (names.empty()) names = one.is_shared ? "many" : one.module;
      texts.push_back(std::string(kind) + " " + names + " " + std::to_string(one.blocks) + " " +
                      std::to_string(one.bytes));
    }
    return texts;
  }
  RootHolders holders;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a variable holds what it alone leads to, and several what more than one does, with all behind it") {
  HeldScene scene({block(0x10000, 100, 1), block(0x10100, 1000, 2),    // of a
                   block(0x20000, 200, 1), block(0x20100, 2000, 2),    // of b
                   block(0x30000, 300, 3), block(0x30200, 3000, 4)});  // of both
  scene.memory.set(0x1000, 0x10000);
  scene.memory.set(0x10000, 0x10100);
  scene.memory.set(0x10008, 0x30000);
  scene.memory.set(0x1100, 0x20000);
  scene.memory.set(0x20000, 0x20100);
  scene.memory.set(0x20008, 0x30000);
  scene.memory.set(0x30000, 0x30200);
  scene.hold({root(RootKind::kVariable, 0x1000, 0x80, "a"), root(RootKind::kVariable, 0x1100, 0x80, "b")});
  CHECK(scene.sums() == Texts{"variable v_a+v_b 2 3300", "variable v_b 2 2200", "variable v_a 2 1100"});
  const std::vector<HeldBlocks> held = scene.holders.sum(scene.table.blocks());
  CHECK(held[0].parts == std::vector<LostPart>{{4, 3000, 1}, {3, 300, 1}});
  CHECK(held[1].parts == std::vector<LostPart>{{2, 2000, 1}, {1, 200, 1}});
}

TEST_CASE("a variable comes before a stack, in whichever order they are") {
  HeldScene scene({block(0x10000, 100), block(0x10100, 1000), block(0x20000, 50)});
  scene.memory.set(0x1000, 0x10100);  // the stack looks at an element
  scene.memory.set(0x1008, 0x20000);
  scene.memory.set(0x1100, 0x10000);
  scene.memory.set(0x10000, 0x10100);
  scene.memory.set(0x10100, 0x10000);
  scene.hold({root(RootKind::kStack, 0x1000, 0x80), root(RootKind::kVariable, 0x1100, 0x80, "a")});
  CHECK(scene.sums() == Texts{"variable v_a 2 1100", "stack  1 50"});
}

TEST_CASE("more than three variables have no names together, nor have those without one") {
  HeldScene scene({block(0x10000, 100), block(0x20000, 200), block(0x30000, 300)});
  std::vector<LeakRoot> roots;
  for (uint64_t i = 0; i < 4; ++i) {
    scene.memory.set(0x1000 + 0x100 * i, 0x10000);
    if (i < 3) scene.memory.set(0x1008 + 0x100 * i, 0x20000);
    roots.push_back(root(RootKind::kVariable, 0x1000 + 0x100 * i, 0x80, std::string(1, static_cast<char>('a' + i))));
  }
  scene.memory.set(0x1010, 0x30000);
  scene.memory.set(0x1400, 0x30000);
  roots.push_back(root(RootKind::kVariable, 0x1400, 0x80, "-stripped"));
  scene.hold(roots);
  CHECK(scene.sums() == Texts{"variable many 2 400", "variable v_a+v_b+v_c 1 200"});
}

TEST_CASE("what only a pointer into the middle leads to has no holder") {
  HeldScene scene({block(0x10000, 100)});
  scene.memory.set(0x1000, 0x10010);
  scene.hold({root(RootKind::kVariable, 0x1000, 0x80, "a")});
  CHECK(scene.kind_at(0x10000) == LeakKind::kPossiblyLost);
  CHECK(scene.sums().empty());
}

TEST_CASE("blocks that were not recorded lead on, and count nowhere") {
  HeldScene scene({block(0x10000, 100, 0), block(0x20000, 50, 7)});
  scene.memory.set(0x1000, 0x10000);
  scene.memory.set(0x10000, 0x20000);
  scene.hold({root(RootKind::kVariable, 0x1000, 0x80, "a")});
  CHECK(scene.sums() == Texts{"variable v_a 1 50"});
}

TEST_CASE("of many holders the largest are told") {
  std::vector<LeakBlock> blocks;
  for (uint64_t i = 0; i < 100; ++i) blocks.push_back(block(0x10000 + 0x1000 * i, 100 + i));
  HeldScene scene(blocks);
  std::vector<LeakRoot> roots;
  for (uint64_t i = 0; i < 100; ++i) {
    scene.memory.set(0x1000 + 8 * i, 0x10000 + 0x1000 * i);
    roots.push_back(root(RootKind::kVariable, 0x1000 + 8 * i, 8, "m" + std::to_string(i)));
  }
  scene.hold(roots);
  const Texts sums = scene.sums();
  REQUIRE(sums.size() == RootHolders::kMostHolders);
  CHECK(sums.front() == "variable v_m99 1 199");
  CHECK(sums.back() == "variable v_m36 1 136");
}

// In random graphs with rings each block has the holder that a search from every root alone says.
TEST_CASE("holders are those that searches from each alone tell") {
  constexpr size_t kBlocks = 60;
  constexpr size_t kHolders = 9;
  constexpr RootKind kKinds[] = {RootKind::kVariable, RootKind::kVariable,    RootKind::kVariable,
                                 RootKind::kVariable, RootKind::kThreadLocal, RootKind::kMapped,
                                 RootKind::kStack,    RootKind::kStack,       RootKind::kOther};
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<LeakBlock> blocks;
    for (uint64_t i = 0; i < kBlocks; ++i) blocks.push_back(block(0x10000 + 0x100 * i, 64 + i, 1 + random() % 5));
    HeldScene scene(blocks);
    std::vector<std::vector<size_t>> edges(kBlocks);
    for (size_t from = 0; from < kBlocks; ++from) {
      for (uint64_t word = 0; word < random() % 3; ++word) {
        const size_t to = random() % kBlocks;
        edges[from].push_back(to);
        scene.memory.set(0x10000 + 0x100 * from + 8 * word, 0x10000 + 0x100 * to);
      }
    }
    std::vector<LeakRoot> roots;
    std::vector<std::set<size_t>> reached(kHolders);  // by each, alone
    for (size_t holder = 0; holder < kHolders; ++holder) {
      const uint64_t at = 0x1000 + 0x100 * holder;
      roots.push_back(
          root(kKinds[holder], at, 0x80, kKinds[holder] == RootKind::kVariable ? "m" + std::to_string(holder) : ""));
      for (uint64_t word = 0; word < 1 + random() % 3; ++word) {
        std::vector<size_t> next = {random() % kBlocks};
        scene.memory.set(at + 8 * word, 0x10000 + 0x100 * next[0]);
        while (!next.empty()) {
          const size_t block = next.back();
          next.pop_back();
          if (!reached[holder].insert(block).second) continue;
          next.insert(next.end(), edges[block].begin(), edges[block].end());
        }
      }
    }
    std::map<std::string, std::pair<uint64_t, uint64_t>> expected;  // by kind and names
    for (size_t i = 0; i < kBlocks; ++i) {
      for (const RootKind kind :
           {RootKind::kVariable, RootKind::kThreadLocal, RootKind::kMapped, RootKind::kStack, RootKind::kOther}) {
        std::set<std::string> names;
        for (size_t holder = 0; holder < kHolders; ++holder) {
          if (kKinds[holder] == kind && reached[holder].contains(i)) names.insert(roots[holder].module);
        }
        if (names.empty()) continue;
        std::string key = std::to_string(static_cast<int>(kind));
        for (const std::string& name : names.size() > 3 ? std::set<std::string>() : names)
          if (!name.empty()) key += " v_" + name;
        auto& [count, bytes] = expected[key];
        ++count;
        bytes += 64 + i;
        break;
      }
    }
    std::shuffle(roots.begin(), roots.end(), random);
    scene.hold(roots);
    std::map<std::string, std::pair<uint64_t, uint64_t>> found;
    for (const HeldBlocks& one : scene.holders.sum(scene.table.blocks())) {
      const std::set<std::string> names(one.names.begin(), one.names.end());
      std::string key = std::to_string(static_cast<int>(one.kind));
      for (const std::string& name : names) key += " " + name;
      found[key] = {one.blocks, one.bytes};
    }
    std::string text;
    for (const auto& [key, amount] : found) text += key + ":" + std::to_string(amount.first) + " ";
    text += " want ";
    for (const auto& [key, amount] : expected) text += key + ":" + std::to_string(amount.first) + " ";
    INFO("seed " << seed << " " << text);
    CHECK(found == expected);
  }
}
