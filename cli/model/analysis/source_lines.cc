// cli/model/analysis/source_lines.cc: one pass sums the tree of stacks towards the root. One walk from the root inwards
// then tracks which lines are further out, so that a recursion counts once.
#include "cli/model/analysis/source_lines.h"

#include "cli/base/saturating.h"
#include "cli/model/analysis/frame_pattern.h"

#include <algorithm>
#include <tuple>

namespace heapprof::cli {
namespace {

// The number of blocks for a metric of bytes.
uint64_t blocks_of(Metric metric, const PlaceNumbers& numbers) {
  switch (metric) {
    case Metric::kPeak: return numbers.peak_blocks;
    case Metric::kLeaked: return numbers.leaked_blocks;
    case Metric::kTotal:
    case Metric::kAllocations: return numbers.total_blocks;
    case Metric::kTemporary: return numbers.temporary_blocks;
  }
  return 0;
}

// Calls enter(node) from the root inwards, and leave(node) after everything further in.
template <typename Enter, typename Leave>
void walk_down(const std::vector<FrameNode>& nodes, const Enter& enter, const Leave& leave) {
  std::vector<uint32_t> first_child(nodes.size());
  std::vector<uint32_t> next_sibling(nodes.size());
  for (size_t node = nodes.size(); node-- > 1;) {
    next_sibling[node] = first_child[nodes[node].parent];
    first_child[nodes[node].parent] = static_cast<uint32_t>(node);
  }
  for (uint32_t node = nodes.empty() ? 0 : first_child[0]; node != 0;) {
    enter(node);
    if (first_child[node] != 0) {
      node = first_child[node];
      continue;
    }
    for (; node != 0 && next_sibling[node] == 0; node = nodes[node].parent) leave(node);
    if (node == 0) return;
    leave(node);
    node = next_sibling[node];
  }
}

// For each frame the number of its line, from 1; 0 if the frame is not in `frames` or has no line.
std::vector<uint32_t> number_lines(const Profile& profile, const std::vector<bool>& frames) {
  std::map<std::pair<std::string_view, uint32_t>, uint32_t> numbers;
  std::vector<uint32_t> by_frame(profile.frames.size());
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[i];
    if (!frames[i] || frame.line == 0 || frame.file.empty()) continue;
    by_frame[i] =
        numbers.emplace(std::pair(std::string_view(frame.file), frame.line), numbers.size() + 1).first->second;
  }
  return by_frame;
}

}  // namespace

std::vector<bool> find_source_frames(const Profile& profile, std::string_view name) {
  if (name.empty()) return {};  // a pattern without globs matches all
  const FrameMatcher matcher(profile);
  const std::string text(name);
  std::vector<bool> found(profile.frames.size());
  bool has_any = false;
  const auto mark = [&](const FramePattern& pattern) {
    for (uint32_t i = 0; i < found.size(); ++i) {
      if (!matcher.fits(pattern, i)) continue;
      found[i] = true;
      has_any = true;
    }
  };
  mark({"", "", text});
  if (!has_any) {
    for (const char* const front : {"", "*::", "*."}) mark({front + text, "", ""});
  }
  return has_any ? found : std::vector<bool>();
}

std::vector<SourceLines> find_source_lines(const Profile& profile, const PlaceTree& tree, const Device& device,
                                           Metric metric, const std::vector<bool>& frames) {
  const std::vector<uint32_t> line_of = number_lines(profile, frames);
  std::map<std::string_view, SourceLines> files;
  const auto at = [&](uint32_t frame) -> LineNumbers& {
    SourceLines& file = files[profile.frames[frame].file];
    LineNumbers& line = file.lines[profile.frames[frame].line];
    line.frame = frame;
    return line;
  };
  std::vector<uint64_t> below(
      std::max<size_t>(profile.nodes.size(), 1));  // by node: the metric of sites at it or further in
  for (const Site& site : device.sites) {
    PlaceNumbers numbers;
    numbers.add(site);
    const uint64_t amount = numbers.metric(metric);
    if (amount == 0) continue;
    add_to(&below[site.node], amount);
    const uint32_t place = tree.place_node[site.node];
    if (place == 0) continue;
    const uint32_t frame = profile.nodes[place].frame;
    if (line_of[frame] == 0) continue;
    LineNumbers& line = at(frame);
    add_to(&line.itself, amount);
    add_to(&line.itself_blocks, blocks_of(metric, numbers));
    add_to(&files[profile.frames[frame].file].itself, amount);
  }
  for (size_t node = below.size(); node-- > 1;) add_to(&below[profile.nodes[node].parent], below[node]);
  std::vector<uint32_t> open(profile.frames.size() + 1);  // by line: how often it occurs further out
  const auto enter = [&](uint32_t node) {
    const uint32_t frame = profile.nodes[node].frame;
    const uint32_t line = line_of[frame];
    if (line != 0 && open[line]++ == 0 && below[node] != 0) add_to(&at(frame).called, below[node]);
  };
  const auto leave = [&](uint32_t node) {
    const uint32_t line = line_of[profile.nodes[node].frame];
    if (line != 0) --open[line];
  };
  walk_down(profile.nodes, enter, leave);
  std::vector<SourceLines> sorted;
  for (auto& [name, file] : files) {
    file.file = name;
    sorted.push_back(std::move(file));
  }
  std::sort(sorted.begin(), sorted.end(), [](const SourceLines& a, const SourceLines& b) {
    return std::tie(b.itself, a.file) < std::tie(a.itself, b.file);
  });
  return sorted;
}

}  // namespace heapprof::cli
