// cli/write/export/pprof_drop.cc: pprof cuts a stack at the outermost frame that it is told to drop, so a function that
// calls back into the program (std::for_each, std::thread) must not be one. Which do is seen in the profile itself, as
// are the names: a pattern for all of std would be a guess.
#include "cli/write/export/pprof_drop.h"

#include "cli/base/text.h"
#include "cli/model/analysis/frame_kind.h"
#include "cli/model/analysis/label_tree.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kMostNames = 1000;  // those with the most bytes: a viewer tries the expression on every function

std::string quoted_for_expression(const std::string& name) {
  constexpr std::string_view kSpecial = R"(\.+*?()|[]{}^$)";
  std::string text;
  for (const char c : name) {
    if (kSpecial.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

// What is known of a node: the bytes of its stacks, and whether a frame of the program's own is below.
struct Below {
  uint64_t bytes = 0;
  bool is_used = false;
  bool has_own = false;
};

// By frame. One without a name may be anybody's.
std::vector<char> find_own_frames(const Profile& profile) {
  std::vector<char> own;
  for (const Frame& frame : profile.frames) {
    const FrameKind kind = frame_kind(profile, frame);
    own.push_back(kind == FrameKind::kUser || kind == FrameKind::kUnknown ? 1 : 0);
  }
  return own;
}

std::vector<Below> look_below(const Profile& profile, const std::vector<char>& own, const Device& device) {
  std::vector<Below> nodes(std::max<size_t>(profile.nodes.size(), 1));
  for (const Site& site : device.sites) {
    Below& node = nodes[site.node];
    node.is_used = true;
    node.bytes = add_saturating(node.bytes, site.numbers.total_bytes);
  }
  for (uint32_t i = static_cast<uint32_t>(nodes.size()); --i > 0;) {
    if (!nodes[i].is_used) continue;
    Below& parent = nodes[profile.nodes[i].parent];
    parent.is_used = true;
    parent.bytes = add_saturating(parent.bytes, nodes[i].bytes);
    parent.has_own = parent.has_own || nodes[i].has_own || own[profile.nodes[i].frame] != 0;
  }
  return nodes;
}

}  // namespace

std::string compared_name(std::string_view function) {
  constexpr std::string_view kReserved[] = {"(anonymous namespace)", "operator()"};
  size_t end = 0;
  while (end < function.size()) {
    const auto* reserved = std::find_if(std::begin(kReserved), std::end(kReserved),
                                        [&](std::string_view name) { return function.substr(end).starts_with(name); });
    if (reserved == std::end(kReserved) && function[end] == '(') break;
    end += reserved == std::end(kReserved) ? 1 : reserved->size();
  }
  return std::string(function.substr(0, end));
}

namespace {

// By what pprof compares: the bytes of the functions that may be dropped, and those that may not.
struct Choice {
  std::map<std::string, uint64_t> dropped;
  std::set<std::string> kept;
};

void choose(const Profile& profile, const Device& device, Choice* choice) {
  const std::vector<char> own = find_own_frames(profile);
  const std::vector<Below> nodes = look_below(profile, own, device);
  std::vector<uint64_t> bytes(profile.frames.size());
  std::vector<char> is_used(profile.frames.size());
  std::vector<char> is_kept(profile.frames.size());
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    const uint32_t frame = profile.nodes[i].frame;
    if (!nodes[i].is_used) continue;
    is_used[frame] = 1;
    bytes[frame] = add_saturating(bytes[frame], nodes[i].bytes);
    if (nodes[i].has_own || own[frame] != 0) is_kept[frame] = 1;
  }
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    if (is_used[i] == 0) continue;
    std::string name = compared_name(escape_controls(frame_label(profile, profile.frames[i])));
    if (is_kept[i] != 0) {
      choice->kept.insert(std::move(name));
    } else {
      uint64_t& sum = choice->dropped[std::move(name)];
      sum = add_saturating(sum, bytes[i]);
    }
  }
}

}  // namespace

std::string dropped_frames(const Profile& profile, const Device& device) {
  const PprofDevice part{&profile, &device};
  return dropped_frames(std::span(&part, 1));
}

std::string dropped_frames(std::span<const PprofDevice> parts) {
  Choice choice;
  for (const PprofDevice& part : parts) choose(*part.profile, *part.device, &choice);
  std::vector<std::pair<uint64_t, std::string>> largest;
  for (const auto& [name, sum] : choice.dropped) {
    if (!name.empty() && choice.kept.count(name) == 0) largest.emplace_back(sum, name);
  }
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (largest.size() > kMostNames) largest.resize(kMostNames);
  std::set<std::string>
      names;  // in their order those that begin alike are neighbours, which keeps the expression quick
  for (const auto& [sum, name] : largest) names.insert(quoted_for_expression(name));
  std::string expression;
  for (const std::string& name : names) expression += (expression.empty() ? "" : "|") + name;
  return expression;
}

}  // namespace heapprof::cli
