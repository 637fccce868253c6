// cli/model/analysis/label_tree.cc: parents have smaller numbers, so one pass over the nodes maps the whole tree.
#include "cli/model/analysis/label_tree.h"

#include "cli/base/file_name.h"
#include "cli/model/profile/node_table.h"
#include "cli/model/profile/site_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace heapprof::cli {
std::string frame_label(const Profile& profile, const Frame& frame) {
  if (!frame.function.empty()) return frame.function;
  std::string module;
  if (frame.module < profile.modules.size()) module = base_name(profile.modules[frame.module].path);
  if (frame.svma == 0 && module.empty()) return "???";
  if (module.empty()) return fmt::format("0x{:X}", frame.svma);
  return fmt::format("0x{:X} ({})", frame.svma, module);
}

LabelTree build_label_tree(const Profile& profile, LabelBy by) {
  LabelTree tree;
  std::map<std::tuple<std::string, std::string_view, uint32_t>, uint32_t> known;
  std::vector<uint32_t> label_of;
  label_of.reserve(profile.frames.size());
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[i];
    const bool with_line = by == LabelBy::kLine;
    const auto [entry, is_new] = known.emplace(
        std::make_tuple(frame_label(profile, frame), with_line ? std::string_view(frame.file) : std::string_view(),
                        with_line ? frame.line : 0),
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

void collect_path(const LabelTree& tree, uint32_t node, std::vector<uint32_t>* path) {
  path->clear();
  for (; node != 0; node = tree.nodes[node].parent) path->push_back(tree.nodes[node].frame);
  std::reverse(path->begin(), path->end());
}

}  // namespace heapprof::cli
