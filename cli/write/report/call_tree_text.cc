// cli/write/report/call_tree_text.cc: built and printed without recursion: a profile may be a million frames deep.
#include "cli/write/report/call_tree_text.h"

#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/call_tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr uint64_t kCutShare = 100;   // one part in so many
constexpr size_t kWidestIndent = 24;  // columns, one for each level; then it begins again

// A line that waits to be printed.
struct Pending {
  uint32_t node = 0;  // 0: the line for what was cut
  uint64_t value = 0;
  size_t cut_count = 0;
  size_t depth = 0;
  std::string prefix;        // of its own line
  std::string child_prefix;  // of lines below it
};

}  // namespace

std::string metric_text(const ReportView& view, Metric metric, uint64_t value) {
  if (!is_in_bytes(metric)) return view.exact_bytes ? format_count_exact(value) : format_count(value);
  return view.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
}

std::string render_call_tree(const Profile& profile, const PlaceTree& place_tree, const FrameNames& names,
                             const Device& device, const ReportView& view, Metric metric, size_t columns) {
  const ShownTree tree(profile, place_tree, device, view.all_frames, metric);
  const uint64_t all = tree[0].value;
  if (all == 0) return "";
  const size_t value_width = std::max<size_t>(display_width(metric_text(view, metric, all)), 8);
  constexpr size_t kPercent = 11;
  const size_t names_room = columns > value_width + kPercent ? columns - value_width - kPercent : 0;
  const size_t widest_indent = std::clamp<size_t>(names_room / 3, 8, kWidestIndent);
  std::vector<Pending> stack;
  // Pushes the lines below a node, the last one first, since the stack turns them round.
  const auto push_children = [&](const TreeNode& node, size_t depth, const std::string& prefix) {
    uint64_t cut_value = 0;
    size_t kept = 0;
    while (kept < node.children.size() && tree[node.children[kept]].value * kCutShare >= all) ++kept;
    size_t cut_count = 0;
    for (size_t i = kept; i < node.children.size(); ++i) {
      cut_value += tree[node.children[i]].value;
      if (tree[node.children[i]].value > 0) ++cut_count;
    }
    // All that is below a line that began again bears its depth, so that it is never taken for what is outside of it.
    const std::string start = display_width(prefix) >= widest_indent ? fmt::format("»{} ", depth) : prefix;
    const auto push = [&](uint32_t child, uint64_t value, size_t count, bool is_last) {
      const std::string branch = depth == 0 ? "" : is_last ? "└ " : "├ ";
      const std::string below = depth == 0 ? "" : is_last ? " " : "│";
      stack.push_back({child, value, count, depth, start + branch, start + below});
    };
    if (cut_count > 0) push(0, cut_value, cut_count, true);
    for (size_t i = kept; i-- > 0;)
      push(node.children[i], tree[node.children[i]].value, 0, i + 1 == kept && cut_count == 0);
  };
  push_children(tree[0], 0, "");
  std::string text;
  size_t lines = 0;
  while (!stack.empty()) {
    const Pending line = stack.back();
    stack.pop_back();
    if (++lines > kMostTreeLines) return text + fmt::format("cut after {} lines\n", format_count_exact(kMostTreeLines));
    const std::string numbers = fmt::format("{}  {}  ", pad_left(metric_text(view, metric, line.value), value_width),
                                            pad_left(format_percent({line.value, all}), 7));
    const size_t used = display_width(numbers) + display_width(line.prefix);
    const size_t room = columns > used + 16 ? columns - used : 16;
    text += numbers + line.prefix;
    if (line.node == 0) {
      text += format_counted(line.cut_count, "other") + " below 1 %\n";
      continue;
    }
    const TreeNode& node = tree[line.node];
    const std::string function = node.is_stackless ? "[no stack]" : names.function(node.frame);
    const std::string location = node.is_stackless        ? ""
                                 : node.has_several_lines ? names.file(node.frame)
                                                          : names.location(node.frame);
    const size_t location_room = std::min(display_width(location), std::max<size_t>(room * 2 / 5, 12));
    const std::string shown =
        shorten_function(function, std::max<size_t>(room - std::min(room - 4, location_room + 2), 4));
    text += shown;
    const size_t rest = room - std::min(room, display_width(shown) + 2);
    if (!location.empty() && rest >= 8) text += "  " + shorten_path(location, rest);
    text += "\n";
    push_children(node, line.depth + 1, line.child_prefix);
  }
  return text;
}

}  // namespace heapprof::cli
