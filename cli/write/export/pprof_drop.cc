// cli/write/export/pprof_drop.cc: pprof cuts a stack at the outermost frame whose function is to be dropped by its
// name. Some functions (std::for_each, an interpreter's loop) call back into the program. On stacks where such a
// function calls the program's own functions, it must be kept. On stacks where it only calls the allocator, it must be
// dropped, so it gets another name there. The profile itself shows which functions these are; a pattern for all of std
// would be a guess.
#include "cli/write/export/pprof_drop.h"

#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/model/analysis/label_tree.h"
#include "cli/model/analysis/places.h"
#include "cli/model/analysis/python/paths.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr size_t kMostNames = 1000;  // those with the most bytes; viewers match every function with them

std::string quoted_for_expression(const std::string& name) {
  constexpr std::string_view kSpecial = R"(\.+*?()|[]{}^$)";
  std::string text;
  for (const char c : name) {
    if (kSpecial.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

// The outermost of the frames, below the user's own, that are cut; 0: none. A frame without a name is kept, because it
// may be the user's. Frames of libraries are kept, because pprof shows whole stacks, except in profiles with Python
// frames.
uint32_t cut_below(const Profile& profile, const PlaceTree& tree, uint32_t node) {
  if (node == 0) return 0;
  const bool is_python = has_python(profile);
  const auto is_cut = [&](uint32_t frame) {
    const FrameKind kind = tree.kinds[frame];
    const bool is_library = kind == FrameKind::kUser && tree.owners[frame] == CodeOwner::kLibrary;
    return kind != FrameKind::kUnknown && (!is_library || is_python);
  };
  const uint32_t own = tree.user_node[node] != 0 ? tree.user_node[node] : tree.place_node[node];
  uint32_t cut = 0;
  while (node != 0 && node != own && is_cut(profile.nodes[node].frame)) {
    cut = node;
    node = profile.nodes[node].parent;
  }
  return node == 0 ? 0 : cut;
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

// By the name that pprof compares: the bytes of the functions at which stacks are cut, and the functions that some
// stack keeps.
struct Choice {
  std::map<std::string, uint64_t> cut;
  std::set<std::string> kept;
};

std::string name_of(const Profile& profile, uint32_t frame) {
  return compared_name(escape_controls(frame_label(profile, profile.frames[frame])));
}

// Returns, for each site, the node at which its stack is cut (0: not at all), and adds the functions to `choice`.
std::vector<uint32_t> choose(const PprofDevice& part, Choice* choice) {
  const Profile& profile = *part.profile;
  const PlaceTree tree = build_place_tree(profile);
  std::vector<uint32_t> cuts;
  std::vector<char> is_kept(std::max<size_t>(profile.nodes.size(), 1));
  std::map<uint32_t, uint64_t> bytes;  // by frame
  for (const Site& site : part.device->sites) {
    const uint32_t cut = cuts.emplace_back(cut_below(profile, tree, site.node));
    is_kept[cut == 0 ? site.node : profile.nodes[cut].parent] = 1;
    if (cut == 0) continue;
    uint64_t& sum = bytes[profile.nodes[cut].frame];
    sum = add_saturating(sum, site.numbers.total_bytes);
  }
  std::set<uint32_t> kept_frames;
  for (auto node = static_cast<uint32_t>(is_kept.size()); --node > 0;) {
    if (is_kept[node] == 0) continue;
    is_kept[profile.nodes[node].parent] = 1;
    kept_frames.insert(profile.nodes[node].frame);
  }
  for (const uint32_t frame : kept_frames) choice->kept.insert(name_of(profile, frame));
  for (const auto& [frame, frame_bytes] : bytes) {
    uint64_t& sum = choice->cut[name_of(profile, frame)];
    sum = add_saturating(sum, frame_bytes);
  }
  return cuts;
}

std::set<std::string> find_dropped_names(const Choice& choice) {
  std::vector<std::pair<uint64_t, std::string>> largest;
  for (const auto& [name, sum] : choice.cut) {
    if (!name.empty() && choice.kept.count(name) == 0) largest.emplace_back(sum, name);
  }
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (largest.size() > kMostNames) largest.resize(kMostNames);
  std::set<std::string> names;
  for (const auto& [sum, name] : largest) names.insert(name);
  return names;
}

}  // namespace

PprofCuts find_pprof_cuts(std::span<const PprofDevice> parts) {
  PprofCuts found;
  Choice choice;
  for (const PprofDevice& part : parts) found.marked.push_back(choose(part, &choice));
  const std::set<std::string> dropped = find_dropped_names(choice);
  std::set<std::string>
      expressions;  // sorted, so that equal beginnings are neighbours, which keeps the expression fast
  for (const std::string& name : dropped) expressions.insert(quoted_for_expression(name));
  for (size_t i = 0; i < parts.size(); ++i) {
    const Profile& profile = *parts[i].profile;
    std::map<uint32_t, bool> is_dropped;  // by frame
    for (uint32_t& cut : found.marked[i]) {
      if (cut == 0) continue;
      const auto [entry, is_new] = is_dropped.emplace(profile.nodes[cut].frame, false);
      if (is_new) entry->second = dropped.count(name_of(profile, entry->first)) == 1;
      if (entry->second) cut = 0;
      if (cut != 0) expressions.insert(quoted_for_expression(std::string(kCutMark)) + ".*");
    }
  }
  for (const std::string& name : expressions) found.expression += (found.expression.empty() ? "" : "|") + name;
  return found;
}

}  // namespace heapprof::cli
