// cli/model/compare/largest_places.cc: see merge_parts.h. Folding wrappers changes data about frames, and the stacks of
// a Python program. So a copy that has only the needed data is used.
#include "cli/base/file_name.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/frame_name.h"
#include "cli/model/analysis/places.h"
#include "cli/model/compare/merge_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

std::string place_text(const Profile& profile, const Place& place) {
  if (!place.has_frame) return "[no stack]";
  const Frame& frame = profile.frames[place.frame];
  std::string name = frame_name(profile, frame);
  if (name.empty()) name = fmt::format("0x{:X}", frame.svma);
  if (!frame.file.empty()) return fmt::format("{} ({}:{})", name, base_name(frame.file), frame.line);
  if (frame.module < profile.modules.size())
    return fmt::format("{} ({})", name, base_name(profile.modules[frame.module].path));
  return name;
}

Profile copy_of_memory(const Profile& profile) {
  Profile copy;
  copy.dialect = profile.dialect;
  copy.has_lifetimes = profile.has_lifetimes;
  copy.run.command = profile.run.command;
  copy.run.executable = profile.run.executable;
  copy.modules = profile.modules;
  copy.frames = profile.frames;
  copy.nodes = profile.nodes;
  for (const Device& device : profile.devices) {
    Device& same = copy.devices.emplace_back();
    same.name = device.name;
    same.totals = device.totals;
    same.sites.reserve(device.sites.size());
    for (const Site& site : device.sites) {
      Site& added = same.sites.emplace_back();
      added.node = site.node;
      added.numbers = site.numbers;
      added.truncated = site.truncated;
      added.grouped_stacks = site.grouped_stacks;
    }
  }
  return copy;
}

}  // namespace

std::vector<std::vector<PartRow>> find_largest_places(const Profile& profile) {
  std::vector<std::vector<PartRow>> all(profile.devices.size());
  if (!profile.has_lifetimes) return all;
  Profile copy = copy_of_memory(profile);
  PlaceTree tree;
  mark_folded({}, &copy, &tree);
  for (size_t i = 0; i < copy.devices.size(); ++i) {
    const std::vector<Place> places = find_places(copy, tree, copy.devices[i]);
    for (const uint32_t place : rank_own_places(places, Metric::kPeak)) {
      if (all[i].size() == kMostPartRows) break;
      all[i].push_back({place_text(copy, places[place]), places[place].numbers.peak_bytes});
    }
  }
  return all;
}

}  // namespace heapprof::cli
