// tests/unit/model/node_table_test.cc: a tree of frames as a table: each node once, children after their parents.
#include "cli/model/profile/node_table.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

TEST_CASE("a node is found again, and children come after their parents") {
  std::vector<FrameNode> nodes;
  NodeTable table(&nodes);
  REQUIRE(nodes.size() == 1);
  uint32_t parent = 0;
  std::vector<uint32_t> chain;
  for (uint32_t i = 0; i < 5000; ++i) chain.push_back(parent = table.intern(parent, i % 7));
  parent = 0;
  for (uint32_t i = 0; i < 5000; ++i) {
    CHECK(table.intern(parent, i % 7) == chain[i]);
    CHECK(nodes[chain[i]].parent == parent);
    CHECK(nodes[chain[i]].frame == i % 7);
    parent = chain[i];
  }
  CHECK(nodes.size() == 5001);
}

TEST_CASE("a table over an existing tree knows its nodes") {
  std::vector<FrameNode> nodes = {{0, 0}, {0, 3}, {1, 4}, {1, 5}};
  NodeTable table(&nodes);
  CHECK(table.intern(0, 3) == 1);
  CHECK(table.intern(1, 5) == 3);
  CHECK(table.intern(3, 5) == 4);
}
