// cli/model/analysis/alike_stacks.cc: two nodes can only have the same stack if their locations, or their callers, read
// alike. Such nodes are few. They are looked up in a separate tree; the recording's own tree is changed once all have
// been found.
#include "cli/model/analysis/alike_stacks.h"

#include "cli/model/profile/alike_frames.h"
#include "cli/model/profile/assemble_steps.h"
#include "cli/model/profile/node_table.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint32_t kLeftOut = 0xffffffff;

bool is_whole(const Recording& recording) {
  const size_t nodes = recording.stacks.size();
  if (nodes == 0) return false;
  for (size_t i = 1; i < nodes; ++i) {
    const StackNode& node = recording.stacks[i];
    if (node.parent >= i || node.location >= recording.locations.size()) return false;
  }
  bool is_whole = true;
  for (const RecordedDevice& device : recording.devices) {
    for (const RecordedSite& site : device.sites) is_whole = is_whole && site.stack < nodes;
  }
  for_each_other_node(recording, [&](uint32_t node) { is_whole = is_whole && node < nodes; });
  return is_whole;
}

// For each location: the first location that reads alike, or kLeftOut. Returns nullopt if a location has some frames of
// another, but not all.
std::optional<std::vector<uint32_t>> find_alike_locations(const Recording& recording, const NamedLocations& names) {
  const std::vector<char> is_agent = find_agent_modules(recording.modules);
  const auto size = static_cast<uint32_t>(recording.locations.size());
  std::vector<uint32_t> first_at(names.stands_for.size(), 0);  // by frame: the location whose first frame it is
  std::vector<uint32_t> alike(size, 0);
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t begin = names.start[i];
    const uint32_t end = names.start[i + 1];
    first_at[begin] = i;
    const uint32_t module = recording.locations[i].module;
    const bool is_no_stack = std::any_of(names.stands_for.begin() + begin, names.stands_for.begin() + end,
                                         [&](uint32_t at) { return stands_for_no_stack(names.profile->frames[at]); });
    if ((module < is_agent.size() && is_agent[module] != 0) || (is_no_stack && end - begin == 1)) {
      alike[i] = kLeftOut;
      continue;
    }
    if (is_no_stack) return std::nullopt;
    const uint32_t other = std::min(names.stands_for[begin], begin);
    const uint32_t first = first_at[other];
    if (names.start[first] != other || names.start[first + 1] - other != end - begin || alike[first] == kLeftOut)
      return std::nullopt;
    for (uint32_t at = begin; at < end; ++at) {
      const uint32_t as = names.stands_for[at];
      if (first == i ? as < begin : as != names.stands_for[other + at - begin]) return std::nullopt;
    }
    alike[i] = first;
  }
  return alike;
}

}  // namespace

bool merge_alike_stacks(const NamedLocations& names, Recording* recording) {
  if (!is_whole(*recording)) return false;
  const std::optional<std::vector<uint32_t>> alike = find_alike_locations(*recording, names);
  if (!alike) return false;
  std::vector<char> has_alike(alike->size(), 0);  // by location
  bool has_any = false;
  for (uint32_t i = 0; i < alike->size(); ++i) {
    const uint32_t first = (*alike)[i];
    if (first == i) continue;
    has_any = true;
    if (first != kLeftOut) has_alike[i] = has_alike[first] = 1;
  }
  if (!has_any) return true;

  std::vector<StackNode>& nodes = recording->stacks;
  std::vector<char> is_shared(nodes.size(), 0);  // its callees may be alike, too
  std::vector<uint32_t> stands_for(nodes.size(), 0);
  for (uint32_t i = 1; i < nodes.size(); ++i) {  // finds the nodes that replace left-out ones
    const bool is_left_out = (*alike)[nodes[i].location] == kLeftOut;
    stands_for[i] = is_left_out ? stands_for[nodes[i].parent] : i;
    if (is_left_out) is_shared[stands_for[i]] = 1;
  }
  std::vector<FrameNode> tree;
  NodeTable table(&tree);
  std::vector<uint32_t> first_of = {0};  // by node of that tree
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    const uint32_t location = (*alike)[nodes[i].location];
    const uint32_t parent = stands_for[nodes[i].parent];
    stands_for[i] = location == kLeftOut ? parent : i;
    if (location == kLeftOut || (has_alike[location] == 0 && is_shared[parent] == 0)) continue;
    is_shared[i] = 1;
    const uint32_t in_tree = table.intern(parent, location);
    if (in_tree == first_of.size()) first_of.push_back(i);
    stands_for[i] = first_of[in_tree];
  }

  for (uint32_t i = 1; i < nodes.size(); ++i) {
    if (stands_for[i] != i) continue;
    nodes[i].parent = stands_for[nodes[i].parent];
    nodes[i].location = (*alike)[nodes[i].location];
  }
  for (RecordedDevice& device : recording->devices) {
    for (RecordedSite& site : device.sites) site.stack = stands_for[site.stack];
  }
  for_each_other_node(*recording, [&](uint32_t& node) { node = stands_for[node]; });
  return true;
}

}  // namespace heapprof::cli
