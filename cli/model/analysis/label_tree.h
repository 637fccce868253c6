// cli/model/analysis/label_tree.h: a profile's stacks by what their frames are called: frames that read alike are one.
//
// Exports name frames by text alone: two addresses of one function are one box there, and two sites that differ in
// nothing else are one stack, whose numbers add.
//
// Guarantees
//  - The sums over the nodes are the sums over the device's sites.
//  - Inlined frames are nodes of their own, inside the function that they are inlined into.
//  - Deterministic for equal profiles.
// Cost:     linear in frames and nodes.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

enum class LabelBy {
  kFunction,       // lines of one function are one
  kShortFunction,  // by the name that short_label() gives it: its variants are one
  kFunctionFile,   // functions of one name in several files are several
};

struct LabelTree {
  std::vector<uint32_t> frames;   // by label: one of the frames that read like it
  std::vector<FrameNode> nodes;   // FrameNode::frame is a label here; node 0 is the root
  std::vector<uint32_t> node_of;  // by node of the profile
};

LabelTree build_label_tree(const Profile& profile, LabelBy by);

// What the sites that end at each node of the tree have of the metric. Sums stop at the largest number.
std::vector<uint64_t> sum_by_node(const LabelTree& tree, const Device& device, Metric metric);

// Puts the labels from the outermost frame to `node` into *path; none for the root.
void collect_path(const LabelTree& tree, uint32_t node, std::vector<uint32_t>* path);

// The nodes with each one's children behind it, in the order of `names` (by label): stacks that begin alike are
// neighbours.
std::vector<uint32_t> nodes_in_order(const LabelTree& tree, const std::vector<std::string>& names);

// Without return type, parameters and the default arguments of std's templates, and cut where it is longer than a line;
// of Python whole.
std::string short_label(const Profile& profile, const Frame& frame);

// The name of the function; without one its address and module, "0x9F20 (libtile.so.2)". Not escaped; never empty.
std::string frame_label(const Profile& profile, const Frame& frame);

}  // namespace heapprof::cli
