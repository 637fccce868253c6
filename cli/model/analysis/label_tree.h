// cli/model/analysis/label_tree.h: merges a profile's stacks by the names of their frames: frames that read alike
// become one label.
//
// Exports name frames by text only, so two addresses of one function are one box. If two sites differ only in such
// addresses, they become one stack, and their numbers add up.
//
// Guarantees
//  - The sums over the nodes are the sums over the device's sites.
//  - Inlined frames are separate nodes, inside the function that they are inlined into.
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
  kFunction,       // all lines of a function are one label
  kShortFunction,  // by the name from short_label(): its variants are one label
  kFunctionFile,   // functions with one name in several files are several labels
};

struct LabelTree {
  std::vector<uint32_t> frames;   // by label: one of the frames that read like it
  std::vector<FrameNode> nodes;   // FrameNode::frame is a label here; node 0 is the root
  std::vector<uint32_t> node_of;  // by node of the profile
};

LabelTree build_label_tree(const Profile& profile, LabelBy by);

// The metric of the sites that end at each node of the tree. Sums saturate at the largest number.
std::vector<uint64_t> sum_by_node(const LabelTree& tree, const Device& device, Metric metric);

// Sets *path to the labels from the outermost frame to `node`. It is empty for the root.
void collect_path(const LabelTree& tree, uint32_t node, std::vector<uint32_t>* path);

// The nodes, each followed by its children, in the order of `names` (by label): stacks that begin alike are neighbours.
std::vector<uint32_t> nodes_in_order(const LabelTree& tree, const std::vector<std::string>& names);

// The function's name without return type, parameters and default arguments of std's templates, and cut if it is longer
// than a line. Python names are not shortened.
std::string short_label(const Profile& profile, const Frame& frame);

// The name of the function, or else its address and module, "0x9F20 (libtile.so.2)". Not escaped; never empty.
std::string frame_label(const Profile& profile, const Frame& frame);

}  // namespace heapprof::cli
