// cli/write/report/call_tree.cc: parents have smaller numbers, so one pass from the end sums up.
#include "cli/write/report/call_tree.h"

#include "cli/base/saturating.h"

#include <algorithm>

namespace heapprof::cli {

ShownTree::ShownTree(const Profile& profile, const PlaceTree& place_tree, const Device& device, bool all_frames,
                     Metric metric)
    : profile_(profile), place_tree_(place_tree) {
  nodes_.emplace_back();
  const std::vector<uint32_t> shown = place_nodes(device, all_frames);
  for (const Site& site : device.sites) {
    PlaceNumbers numbers;
    numbers.add(site);
    // Folded frames between the place and the allocator have no line.
    const uint32_t node = all_frames ? site.node : place_tree_.place_node[site.node];
    const uint32_t shown_node = site.node == 0 ? stackless_child() : shown[node];
    add_own(shown_node, profile.nodes[node].frame, numbers.metric(metric));
  }
  for (TreeNode& node : nodes_) node.value = node.own_value;
  for (size_t i = nodes_.size() - 1; i > 0; --i) {
    TreeNode& parent = nodes_[nodes_[i].parent];
    parent.value = add_saturating(parent.value, nodes_[i].value);
  }
  for (uint32_t i = 1; i < nodes_.size(); ++i) nodes_[nodes_[i].parent].children.push_back(i);
  for (TreeNode& node : nodes_) {
    std::stable_sort(node.children.begin(), node.children.end(),
                     [this](uint32_t a, uint32_t b) { return nodes_[a].value > nodes_[b].value; });
  }
}

// For each node of the profile, the node of this tree that represents it.
std::vector<uint32_t> ShownTree::place_nodes(const Device& device, bool all_frames) {
  std::vector<bool> names_a_place(profile_.nodes.size());
  for (const Site& site : device.sites) names_a_place[place_tree_.place_node[site.node]] = true;
  std::vector<uint32_t> here(profile_.nodes.size());
  for (uint32_t node = 1; node < profile_.nodes.size(); ++node) {
    const uint32_t frame = profile_.nodes[node].frame;
    const uint32_t parent = here[profile_.nodes[node].parent];
    const bool is_shown =
        all_frames || place_tree_.user_node[node] == node || (place_tree_.user_node[node] == 0 && names_a_place[node]);
    const bool recursive = parent != 0 && nodes_[parent].function == place_tree_.functions[frame];
    here[node] = is_shown && !recursive ? child(parent, frame) : parent;
    TreeNode& shown_as = nodes_[here[node]];
    if (is_shown && profile_.frames[shown_as.frame].line != profile_.frames[frame].line)
      shown_as.has_several_lines = true;
  }
  return here;
}

uint32_t ShownTree::child(uint32_t parent, uint32_t frame) {
  const uint64_t key = uint64_t{parent} << 32 | place_tree_.functions[frame];
  const auto [entry, is_new] = child_of_.emplace(key, static_cast<uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, place_tree_.functions[frame], frame, false, false, 0, 0, 0, false, {}});
  return entry->second;
}

void ShownTree::add_own(uint32_t node, uint32_t frame, uint64_t value) {
  if (value == 0) return;
  TreeNode& shown = nodes_[node];
  const bool is_first = shown.own_value == 0;
  shown.own_value = add_saturating(shown.own_value, value);
  if (shown.is_stackless) return;  // the profile may have no frames at all
  if (is_first) shown.own_frame = frame;
  if (profile_.frames[shown.own_frame].line != profile_.frames[frame].line) shown.has_several_own_lines = true;
}

uint32_t ShownTree::stackless_child() {
  if (stackless_ == 0) {
    stackless_ = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({0, place_tree_.labels_count, 0, true, false, 0, 0, 0, false, {}});
  }
  return stackless_;
}

}  // namespace heapprof::cli
