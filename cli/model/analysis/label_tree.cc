// cli/model/analysis/label_tree.cc: parents have smaller numbers, so one pass over the nodes maps the whole tree.
#include "cli/model/analysis/label_tree.h"

#include "cli/base/file_name.h"
#include "cli/base/function_name.h"
#include "cli/base/saturating.h"
#include "cli/model/analysis/frame_name.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/profile/node_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace heapprof::cli {
std::string frame_label(const Profile& profile, const Frame& frame) {
  if (!frame.function.empty()) return frame.function;
  std::string module;
  if (frame.module < profile.modules.size()) module = base_name(profile.modules[frame.module].path);
  if (frame.svma == 0 && module.empty()) return "???";
  if (module.empty()) return fmt::format("0x{:X}", frame.svma);
  return fmt::format("0x{:X} ({})", frame.svma, module);
}

std::string short_label(const Profile& profile, const Frame& frame) {
  constexpr size_t kLine = 80;
  if (frame.function.empty()) return frame_label(profile, frame);
  if (is_of_python(profile, frame)) return frame_name(profile, frame);  // it has no parameters to remove
  const std::string name = shorten_function(frame_name(profile, frame), kLine);
  return name.empty() ? frame.function : name;
}

LabelTree build_label_tree(const Profile& profile, LabelBy by) {
  LabelTree tree;
  std::map<std::pair<std::string, std::string_view>, uint32_t> known;
  std::vector<uint32_t> label_of;
  label_of.reserve(profile.frames.size());
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[i];
    const auto [entry, is_new] = known.emplace(
        std::make_pair(by == LabelBy::kShortFunction ? short_label(profile, frame) : frame_label(profile, frame),
                       by == LabelBy::kFunctionFile ? std::string_view(frame.file) : std::string_view()),
        static_cast<uint32_t>(tree.frames.size()));
    if (is_new) tree.frames.push_back(i);
    label_of.push_back(entry->second);
  }
  NodeTable table(&tree.nodes);
  tree.node_of.resize(std::max<size_t>(profile.nodes.size(), 1));
  for (uint32_t node = 1; node < profile.nodes.size(); ++node) {
    const FrameNode& from = profile.nodes[node];
    tree.node_of[node] = table.intern(tree.node_of[from.parent], label_of[from.frame]);
  }
  return tree;
}

std::vector<uint64_t> sum_by_node(const LabelTree& tree, const Device& device, Metric metric) {
  std::vector<uint64_t> sums(tree.nodes.size());
  for (const Site& site : device.sites) {
    PlaceNumbers numbers;
    numbers.add(site);
    uint64_t value = numbers.metric(metric);
    if (metric == Metric::kLeaked) value = add_saturating(value, numbers.suppressed_bytes);
    uint64_t& sum = sums[tree.node_of[site.node]];
    sum = add_saturating(sum, value);
  }
  return sums;
}

std::vector<uint32_t> nodes_in_order(const LabelTree& tree, const std::vector<std::string>& names) {
  std::vector<uint32_t> by_name(names.size());
  std::iota(by_name.begin(), by_name.end(), 0);
  std::sort(by_name.begin(), by_name.end(),
            [&](uint32_t a, uint32_t b) { return names[a] != names[b] ? names[a] < names[b] : a < b; });
  std::vector<uint32_t> rank(names.size());
  for (uint32_t i = 0; i < by_name.size(); ++i) rank[by_name[i]] = i;
  // Sorts the nodes by parent, and the children of one node in reverse order, so that the first child ends up on top of
  // the stack of nodes to visit.
  std::vector<uint32_t> children(tree.nodes.empty() ? 0 : tree.nodes.size() - 1);
  std::iota(children.begin(), children.end(), 1);
  std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
    const FrameNode& x = tree.nodes[a];
    const FrameNode& y = tree.nodes[b];
    return x.parent != y.parent ? x.parent < y.parent : rank[x.frame] > rank[y.frame];
  });
  std::vector<uint32_t> order;
  std::vector<uint32_t> waiting = {0};
  while (!waiting.empty()) {
    const uint32_t node = waiting.back();
    waiting.pop_back();
    order.push_back(node);
    auto child = std::lower_bound(children.begin(), children.end(), node,
                                  [&](uint32_t at, uint32_t parent) { return tree.nodes[at].parent < parent; });
    for (; child != children.end() && tree.nodes[*child].parent == node; ++child) waiting.push_back(*child);
  }
  return order;
}

void collect_path(const LabelTree& tree, uint32_t node, std::vector<uint32_t>* path) {
  path->clear();
  for (; node != 0; node = tree.nodes[node].parent) path->push_back(tree.nodes[node].frame);
  std::reverse(path->begin(), path->end());
}

}  // namespace heapprof::cli
