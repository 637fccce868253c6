// cli/model/profile/node_table.h: finds or adds a node of the tree of named stacks.
//
// Guarantees
//  - Each (parent, frame) has one node. Numbers are given in the order of first use, so a parent's is smaller than its
//    child's.
// Cost:     16 to 24 bytes a node; one probe sequence per look-up.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

class NodeTable {
 public:
  // Adds to `nodes`. If `nodes` already has a tree, its nodes are entered into the table; if it is empty, it gets the
  // root. expected_nodes: how many fit without growing.
  explicit NodeTable(std::vector<FrameNode>* nodes, size_t expected_nodes = 0);

  uint32_t intern(uint32_t parent, uint32_t frame);

 private:
  void grow();
  size_t slot_of(FrameNode key) const;

  std::vector<FrameNode>* nodes_;
  std::vector<uint32_t> slots_;  // node numbers; 0: free (the root is never looked up)
};

}  // namespace heapprof::cli
