// tests/unit/collect/call_tree_test.cc: stacks become nodes and sites, one for each, and stay what they are while the
// tables grow.
#include "cli/collect/rings/call_tree.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace heapprof::cli {
namespace {

struct Leaf {
  uint32_t node = 0;
  uint32_t path_hash = CallTree::kRootHash;
};

Leaf walk(CallTree& tree, const std::vector<uint32_t>& locations) {
  Leaf leaf;
  for (const uint32_t location : locations) {
    leaf.path_hash = CallTree::hash_step(leaf.path_hash, location);
    leaf.node = tree.descend(leaf.path_hash, leaf.node, location).node;
  }
  return leaf;
}

TEST_CASE("equal stacks are one node, different ones two, while the tree grows") {
  std::mt19937 random(3);
  CallTree tree;
  std::map<std::vector<uint32_t>, uint32_t> nodes;
  std::set<uint32_t> seen;
  for (int i = 0; i < 60'000; ++i) {
    std::vector<uint32_t> stack(random() % 12);
    for (uint32_t& location : stack) location = random() % 4;
    const uint32_t node = walk(tree, stack).node;
    const auto [at, is_new] = nodes.try_emplace(stack, node);
    REQUIRE(at->second == node);
    if (is_new) REQUIRE(seen.insert(node).second);
  }
  for (const auto& [stack, node] : nodes) {  // back from the node to the stack
    std::vector<uint32_t> back;
    for (uint32_t at = node; at != 0; at = tree.nodes()[at].parent) {
      REQUIRE(tree.nodes()[at].parent < at);
      back.insert(back.begin(), tree.nodes()[at].location);
    }
    REQUIRE(back == stack);
  }
}

TEST_CASE("frames whose hashes are equal are told apart") {
  CallTree tree;
  const uint32_t hash = GENERATE(0u, 0x12345678u, 0xffffffffu);
  std::set<uint32_t> nodes;
  for (uint32_t location = 0; location < 2000; ++location)
    REQUIRE(nodes.insert(tree.descend(hash, 0, location).node).second);
  for (uint32_t location = 0; location < 2000; ++location) {
    const uint32_t node = tree.descend(hash, 0, location).node;
    REQUIRE(tree.nodes()[node].location == location);
    REQUIRE(tree.sites()[tree.site_of(node, 1)].stack == node);
  }
  CHECK(tree.nodes().size() == 2001);
}

TEST_CASE("a stack has one site, and another one where it is truncated") {
  CallTree tree;
  const Leaf leaf = walk(tree, {1, 2, 3});
  const uint32_t site = tree.site_of(leaf.node, 3);
  CHECK(site != 0);
  CHECK(tree.site_of(leaf.node, 3) == site);
  const uint32_t truncated = tree.truncated_site_of(leaf.node, 3);
  CHECK(truncated != site);
  CHECK(tree.truncated_site_of(leaf.node, 3) == truncated);
  CHECK(tree.sites()[site].stack == leaf.node);
  CHECK(tree.sites()[site].truncated == 0);
  CHECK(tree.sites()[truncated].truncated == 1);

  const uint32_t root = tree.site_of(0, 0);
  CHECK(root != site);
  CHECK(tree.site_of(0, 0) == root);
  CHECK(tree.sites()[root].stack == 0);
}

TEST_CASE("sites stay with their stacks when the table grows") {
  CallTree tree;
  std::vector<std::pair<Leaf, uint32_t>> sites;
  for (uint32_t i = 0; i < 50'000; ++i) {
    const Leaf leaf = walk(tree, {i % 7, i});
    if (i % 3 == 0) sites.push_back({leaf, tree.site_of(leaf.node, 3)});
  }
  for (const auto& [leaf, site] : sites) REQUIRE(tree.site_of(leaf.node, 3) == site);
  CHECK(tree.site_count() == sites.size() + 1);
}

}  // namespace
}  // namespace heapprof::cli
