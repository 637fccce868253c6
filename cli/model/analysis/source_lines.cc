// cli/model/analysis/source_lines.cc: sums run up the tree of stacks once; only nodes on a line that was asked for are
// looked at one by one.
#include "cli/model/analysis/source_lines.h"

#include "cli/base/saturating.h"
#include "cli/model/analysis/frame_pattern.h"

#include <algorithm>
#include <tuple>

namespace heapprof::cli {
namespace {

// The blocks beside a metric of bytes.
uint64_t blocks_of(Metric metric, const SiteNumbers& numbers) {
  switch (metric) {
    case Metric::kPeak: return numbers.peak_blocks;
    case Metric::kLeaked: return numbers.leaked_blocks;
    case Metric::kTotal:
    case Metric::kAllocations: return numbers.total_blocks;
    case Metric::kTemporary: return numbers.temporary_blocks;
  }
  return 0;
}

// By frame: equal for those of one line, from 1; 0: not asked for.
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
  if (name.empty()) return {};  // a pattern without globs fits all
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
  std::vector<uint64_t> below(profile.nodes.size());  // by node: of the sites that end there or further in
  for (const Site& site : device.sites) {
    const uint64_t amount = (site.numbers.*metric_field_of(metric).number);
    if (amount == 0) continue;
    if (site.node < below.size()) add_to(&below[site.node], amount);
    const uint32_t place = site.node < tree.place_node.size() ? tree.place_node[site.node] : 0;
    if (place == 0) continue;
    const uint32_t frame = profile.nodes[place].frame;
    if (line_of[frame] == 0) continue;
    LineNumbers& line = at(frame);
    add_to(&line.itself, amount);
    add_to(&line.itself_blocks, blocks_of(metric, site.numbers));
    add_to(&files[profile.frames[frame].file].itself, amount);
  }
  for (size_t node = below.size(); node-- > 1;) add_to(&below[profile.nodes[node].parent], below[node]);
  for (uint32_t node = 1; node < below.size(); ++node) {
    const uint32_t frame = profile.nodes[node].frame;
    if (below[node] == 0 || line_of[frame] == 0) continue;
    uint32_t outer = profile.nodes[node].parent;
    while (outer != 0 && line_of[profile.nodes[outer].frame] != line_of[frame]) outer = profile.nodes[outer].parent;
    if (outer == 0) add_to(&at(frame).called, below[node]);  // else it is counted there
  }
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
