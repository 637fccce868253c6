// cli/model/profile/canonical.cc: stacks are compared without walking them. Frames get a rank by their text; a
// depth-first walk of the tree, children by rank, numbers the nodes; and the order of those numbers is the order of the
// stacks.
#include "cli/model/profile/canonical.h"

#include "cli/model/profile/alike_frames.h"
#include "cli/model/profile/node_table.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace heapprof::cli {
namespace {

// The text's first bytes as a number. If two texts differ in these bytes, the numbers compare like the texts.
uint64_t first_bytes(std::string_view text) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < sizeof bytes; ++i) bytes = bytes << 8 | (i < text.size() ? static_cast<uint8_t>(text[i]) : 0u);
  return bytes;
}

// The rank of each module's path; equal paths have equal ranks. The last entry is for frames without a module.
std::vector<uint32_t> rank_modules(const Profile& profile) {
  std::vector<std::string_view> paths = {""};
  for (const ProfileModule& module : profile.modules) paths.push_back(module.path);
  std::sort(paths.begin(), paths.end());
  const auto rank_of = [&paths](std::string_view path) {
    return static_cast<uint32_t>(std::lower_bound(paths.begin(), paths.end(), path) - paths.begin());
  };
  std::vector<uint32_t> ranks;
  for (const ProfileModule& module : profile.modules) ranks.push_back(rank_of(module.path));
  ranks.push_back(rank_of(""));
  return ranks;
}

// The order is frame_order()'s, then by number. Frames without a name are compared by their modules' paths, which are
// long and similar, so paths are replaced with ranks. Names are first compared by first_bytes().
std::vector<uint32_t> rank_frames(const Profile& profile) {
  struct Key {
    uint64_t function_bytes;
    uint32_t module_rank;
    uint32_t frame;
  };
  const std::vector<uint32_t> module_ranks = rank_modules(profile);
  std::vector<Key> order;
  order.reserve(profile.frames.size());
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[i];
    order.push_back(
        {first_bytes(frame.function), module_ranks[std::min<size_t>(frame.module, profile.modules.size())], i});
  }
  std::sort(order.begin(), order.end(), [&](const Key& a, const Key& b) {
    if (a.function_bytes != b.function_bytes) return a.function_bytes < b.function_bytes;
    const Frame& left = profile.frames[a.frame];
    const Frame& right = profile.frames[b.frame];
    if (const int by_function = left.function.compare(right.function); by_function != 0) return by_function < 0;
    if (const int by_file = left.file.compare(right.file); by_file != 0) return by_file < 0;
    return std::tuple(left.line, a.module_rank, left.svma, a.frame) <
           std::tuple(right.line, b.module_rank, right.svma, b.frame);
  });
  std::vector<uint32_t> rank(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i].frame] = i;
  return rank;
}

struct Tree {
  std::vector<FrameNode> nodes;
  std::vector<uint32_t> new_node;  // by old number
};

Tree intern_nodes(const Profile& profile, const std::vector<uint32_t>& stands_for) {
  Tree tree;
  tree.new_node.assign(std::max<size_t>(profile.nodes.size(), 1), 0);
  NodeTable table(&tree.nodes, profile.nodes.size());
  for (uint32_t i = 1; i < profile.nodes.size(); ++i) {
    const FrameNode& node = profile.nodes[i];
    if (node.parent >= i || node.frame >= stands_for.size()) continue;  // a broken node: its stack counts as no stack
    const uint32_t parent = tree.new_node[node.parent];
    const uint32_t frame = stands_for[node.frame];
    tree.new_node[i] = stands_for_no_stack(profile.frames[frame]) ? parent : table.intern(parent, frame);
  }
  return tree;
}

// The position of each node in a depth-first walk, children in the order of their frames' ranks.
std::vector<uint32_t> walk_order(const std::vector<FrameNode>& nodes, const std::vector<uint32_t>& rank) {
  constexpr uint32_t kNone = 0xffffffff;
  // Sorts nodes by rank (a counting sort), then puts each at the front of its parent's list, from the last to the
  // first. So each list is ordered by rank.
  std::vector<uint32_t> start(rank.size() + 1, 0);
  for (size_t i = 1; i < nodes.size(); ++i) ++start[rank[nodes[i].frame] + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<uint32_t> by_rank(nodes.size() - 1);
  for (uint32_t i = 1; i < nodes.size(); ++i) by_rank[start[rank[nodes[i].frame]]++] = i;
  std::vector<uint32_t> first_child(nodes.size(), kNone);
  std::vector<uint32_t> next_sibling(nodes.size(), kNone);
  for (auto i = by_rank.rbegin(); i != by_rank.rend(); ++i) {
    next_sibling[*i] = first_child[nodes[*i].parent];
    first_child[nodes[*i].parent] = *i;
  }
  std::vector<uint32_t> position(nodes.size(), 0);
  uint32_t next_position = 1;
  for (uint32_t at = first_child[0]; at != kNone;) {
    position[at] = next_position++;
    if (first_child[at] != kNone) {
      at = first_child[at];
      continue;
    }
    while (at != 0 && next_sibling[at] == kNone) at = nodes[at].parent;
    at = at == 0 ? kNone : next_sibling[at];
  }
  return position;
}

void merge_sites(Device* device, const std::vector<uint32_t>& new_node, std::vector<uint32_t>* site_of_node) {
  std::vector<Site>& sites = device->sites;
  size_t kept = 0;
  for (size_t i = 0; i < sites.size(); ++i) {
    Site site = std::move(sites[i]);
    if (!has_counted(site.numbers)) continue;
    site.node = site.node < new_node.size() ? new_node[site.node] : 0;
    uint32_t& owner = (*site_of_node)[site.node];
    if (owner != 0) {
      merge_site(&sites[owner - 1], site, device->totals.peak_bytes);
    } else {
      sites[kept++] = std::move(site);
      owner = static_cast<uint32_t>(kept);
    }
  }
  sites.resize(kept);
  for (const Site& site : sites) (*site_of_node)[site.node] = 0;  // for the next device
}

void sort_sites(std::vector<Site>* sites, const std::vector<uint32_t>& position) {
  // A site has 300 bytes or more, so small keys are sorted, and each site moves once.
  struct Key {
    uint64_t peak_bytes;
    uint64_t total_bytes;
    uint32_t position;
    uint32_t site;
  };
  std::vector<Key> keys;
  keys.reserve(sites->size());
  for (uint32_t i = 0; i < sites->size(); ++i) {
    const Site& site = (*sites)[i];
    keys.push_back({site.numbers.peak_bytes, site.numbers.total_bytes, position[site.node], i});
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    if (a.peak_bytes != b.peak_bytes) return a.peak_bytes > b.peak_bytes;
    if (a.total_bytes != b.total_bytes) return a.total_bytes > b.total_bytes;
    return a.position < b.position;
  });
  // Sorts in place, by rotating each cycle of positions, because a second list of a million sites would need as much
  // memory again.
  for (uint32_t first = 0; first < keys.size(); ++first) {
    if (keys[first].site == first) continue;
    Site moved = std::move((*sites)[first]);
    uint32_t at = first;
    while (keys[at].site != first) {
      (*sites)[at] = std::move((*sites)[keys[at].site]);
      at = std::exchange(keys[at].site, at);
    }
    (*sites)[at] = std::move(moved);
    keys[at].site = at;
  }
}

// The frames that occur most often in sites' stacks come first, so that their numbers, which make up most of a large
// profile, are short.
void sort_frames(Profile* profile) {
  std::vector<uint64_t> node_uses(profile->nodes.size(), 0);
  for (const Device& device : profile->devices) {
    for (const Site& site : device.sites) ++node_uses[site.node];
  }
  std::vector<uint64_t> uses(profile->frames.size(), 0);
  for (size_t i = profile->nodes.size(); i-- > 1;) {
    const FrameNode& node = profile->nodes[i];
    node_uses[node.parent] += node_uses[i];
    uses[node.frame] += node_uses[i];
  }
  std::vector<uint32_t> order(profile->frames.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return uses[a] > uses[b]; });
  std::vector<Frame> frames(order.size());
  std::vector<uint32_t> number(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    frames[i] = std::move(profile->frames[order[i]]);
    number[order[i]] = i;
  }
  profile->frames = std::move(frames);
  for (size_t i = 1; i < profile->nodes.size(); ++i) profile->nodes[i].frame = number[profile->nodes[i].frame];
}

// Keeps frames and nodes that are used, in the order of their first use.
void renumber(Profile* profile, const std::vector<FrameNode>& old_nodes) {
  std::vector<Frame> frames;
  std::vector<FrameNode> nodes(1);
  std::vector<uint32_t> frame_number(profile->frames.size(), 0);  // plus one; 0: not used yet
  std::vector<uint32_t> node_number(old_nodes.size(), 0);
  std::vector<uint32_t> path;
  const auto keep = [&](uint32_t& node) {
    path.clear();
    for (uint32_t at = node; at != 0 && node_number[at] == 0; at = old_nodes[at].parent) path.push_back(at);
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      uint32_t& frame = frame_number[old_nodes[*at].frame];
      if (frame == 0) {
        frames.push_back(std::move(profile->frames[old_nodes[*at].frame]));
        frame = static_cast<uint32_t>(frames.size());
      }
      node_number[*at] = static_cast<uint32_t>(nodes.size());
      nodes.push_back({node_number[old_nodes[*at].parent], frame - 1});
    }
    node = node_number[node];
  };
  for (Device& device : profile->devices) {
    for (Site& site : device.sites) keep(site.node);
  }
  for_each_other_node(*profile, keep);
  profile->frames = std::move(frames);
  profile->nodes = std::move(nodes);
}

}  // namespace

bool has_counted(const SiteNumbers& numbers) {
  return numbers.total_blocks != 0 || numbers.total_bytes != 0 || numbers.max_bytes != 0 || numbers.peak_bytes != 0 ||
         numbers.leaked_bytes != 0 || numbers.leaked_blocks != 0;
}

void canonicalize(Profile* profile) {
  const std::vector<uint32_t> stands_for = merge_alike_frames(profile);
  const Tree tree = intern_nodes(*profile, stands_for);
  const std::vector<uint32_t> position = walk_order(tree.nodes, rank_frames(*profile));
  std::vector<uint32_t> node_at(position.size());
  for (uint32_t i = 0; i < position.size(); ++i) node_at[position[i]] = i;
  std::vector<uint32_t> site_of_node(tree.nodes.size(), 0);
  for (Device& device : profile->devices) {
    merge_sites(&device, tree.new_node, &site_of_node);
    sort_sites(&device.sites, position);
  }
  // Nodes are temporarily numbered by position, so that the order of equal entries does not depend on old node numbers.
  for_each_other_node(*profile,
                      [&](uint32_t& node) { node = node < tree.new_node.size() ? position[tree.new_node[node]] : 0; });
  for (Device& device : profile->devices) {
    merge_refusals(&device.refusals);
    merge_owners(&device.lost_owners);
    merge_holders(&device.held_by);
    settle_parts(&device.fragmentation.pinning);
    settle_parts(&device.untouched.parts);
    merge_estimates(&device.unseen.estimates);
    merge_named(&device.names);
  }
  merge_api(&profile->api);
  renumber_traced_memory(&profile->trace);
  for_each_other_node(*profile, [&](uint32_t& node) { node = node_at[node]; });
  renumber(profile, tree.nodes);
  sort_frames(profile);
}

}  // namespace heapprof::cli
