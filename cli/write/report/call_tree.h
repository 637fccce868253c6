// cli/write/report/call_tree.h: the call tree that reports show: the program's own functions, from the outermost
// inwards, each with what it and its callees asked for.
//
// A function that calls itself is one node. Node 0 is the root; every other node's parent has a smaller number.
//
// Guarantees
//  - The nodes do not depend on the metric: trees of several metrics have the same nodes.
//  - The root's value is the device's number.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

struct TreeNode {
  uint32_t parent = 0;
  uint32_t function = 0;  // as PlaceTree::functions
  uint32_t frame = 0;     // one of the frames that it represents
  bool is_stackless = false;
  bool has_several_lines = false;
  uint64_t value = 0;
  uint64_t own_value = 0;  // the part that the function itself asked for, not its callees
  uint32_t own_frame = 0;  // one of the frames that asked for that part
  bool has_several_own_lines = false;
  std::vector<uint32_t> children;  // sorted once all values are known
};

class ShownTree {
 public:
  ShownTree(const Profile& profile, const PlaceTree& place_tree, const Device& device, bool all_frames, Metric metric);

  const TreeNode& operator[](uint32_t node) const { return nodes_[node]; }
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }

 private:
  std::vector<uint32_t> place_nodes(const Device& device, bool all_frames);
  uint32_t child(uint32_t parent, uint32_t frame);
  uint32_t stackless_child();
  void add_own(uint32_t node, uint32_t frame, uint64_t value);

  const Profile& profile_;
  const PlaceTree& place_tree_;
  std::vector<TreeNode> nodes_;
  std::unordered_map<uint64_t, uint32_t> child_of_;
  uint32_t stackless_ = 0;
};

}  // namespace heapprof::cli
