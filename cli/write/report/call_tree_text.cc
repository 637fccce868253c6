// cli/write/report/call_tree_text.cc: built and printed without recursion: a profile may be a million frames deep.
#include "cli/base/function_name.h"
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/call_tree.h"
#include "cli/write/report/report_sections.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr uint64_t kCutShare = 100;   // a function with less than 1/100 has no line
constexpr size_t kWidestIndent = 24;  // columns, one for each level; beyond that, the indent starts again

// A line that waits to be printed.
struct Pending {
  uint32_t node = 0;       // 0: the line for what was cut
  bool is_itself = false;  // the part that the node's function asked for itself, beside lines for its callees
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
  const uint64_t least = std::max<uint64_t>(all / kCutShare, 1);
  const size_t value_width = std::max<size_t>(display_width(metric_text(view, metric, all)), 8);
  constexpr size_t kPercent = 11;
  const size_t names_room = columns > value_width + kPercent ? columns - value_width - kPercent : 0;
  const size_t widest_indent = std::clamp<size_t>(names_room / 3, 8, kWidestIndent);
  std::vector<Pending> stack;
  // Pushes the lines below a node, the last one first, since the stack reverses them.
  const auto push_children = [&](uint32_t parent, size_t depth, const std::string& prefix) {
    const TreeNode& node = tree[parent];
    std::vector<Pending> lines;
    Pending cut;
    cut.depth = depth;
    for (const uint32_t child : node.children) {
      const uint64_t value = tree[child].value;
      if (value >= least) {
        lines.push_back({child, false, value, 0, depth, "", ""});
      } else if (value > 0) {
        cut.value = add_saturating(cut.value, value);
        ++cut.cut_count;
      }
    }
    // If callees have lines, the function's own part has a line, too, so that the lines below a line add up to it.
    const bool has_lines = !lines.empty() || cut.cut_count > 0;
    if (has_lines && parent != 0 && node.own_value >= least) {
      const auto smaller =
          std::find_if(lines.begin(), lines.end(), [&](const Pending& line) { return line.value < node.own_value; });
      lines.insert(smaller, {parent, true, node.own_value, 0, depth, "", ""});
    } else if (has_lines && parent != 0 && node.own_value > 0) {
      cut.value = add_saturating(cut.value, node.own_value);
      ++cut.cut_count;
    }
    if (cut.cut_count > 0) lines.push_back(cut);
    // If the indent started again, the lines below show their depth, so that they are never taken for outer lines.
    const std::string start = display_width(prefix) >= widest_indent ? fmt::format("»{} ", depth) : prefix;
    for (size_t i = lines.size(); i-- > 0;) {
      const bool is_last = i + 1 == lines.size();
      lines[i].prefix = start + (depth == 0 ? "" : is_last ? "└ " : "├ ");
      lines[i].child_prefix = start + (depth == 0 ? "" : is_last ? " " : "│");
      stack.push_back(lines[i]);
    }
  };
  push_children(0, 0, "");
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
    const uint32_t frame = line.is_itself ? node.own_frame : node.frame;
    const bool has_several_lines = line.is_itself ? node.has_several_own_lines : node.has_several_lines;
    const std::string function = node.is_stackless ? "[no stack]" : line.is_itself ? "(itself)" : names.function(frame);
    const std::string location = node.is_stackless ? "" : has_several_lines ? names.file(frame) : names.location(frame);
    const size_t location_room = std::min(display_width(location), std::max<size_t>(room * 2 / 5, 12));
    const std::string shown =
        shorten_function(function, std::max<size_t>(room - std::min(room - 4, location_room + 2), 4));
    text += shown;
    const size_t rest = room - std::min(room, display_width(shown) + 2);
    if (!location.empty() && rest >= 8) text += "  " + shorten_path(location, rest);
    text += "\n";
    if (!line.is_itself) push_children(line.node, line.depth + 1, line.child_prefix);
  }
  return text;
}

}  // namespace heapprof::cli
