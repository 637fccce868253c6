// cli/model/profile/assemble_steps.cc: each location is expanded once into its frames, each stack node once into a path
// of frame nodes. So the tree stays a tree, and no site needs its own list.
#include "cli/model/profile/assemble_steps.h"

#include "cli/base/file_name.h"
#include "cli/base/function_name.h"
#include "cli/model/profile/recursion_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace heapprof::cli {
namespace {

// A library that is loaded twice, or again at another address, is one module.
std::vector<uint32_t> add_modules(const Recording& recording, Profile* profile) {
  std::map<std::pair<std::string, std::string>, uint32_t> known;
  std::vector<uint32_t> number;
  number.reserve(recording.modules.size());
  for (const Module& module : recording.modules) {
    const auto [entry, is_new] =
        known.try_emplace({module.path, module.build_id}, static_cast<uint32_t>(profile->modules.size()));
    if (is_new) profile->modules.push_back({module.path, module.build_id});
    number.push_back(entry->second);
  }
  return number;
}

// Makes the pseudo-frame of a recursion. It gets the module of the frame that follows it, so that it is a user frame
// only if that frame is one.
Frame recursion_frame(uint64_t svma, const Recording& recording, const SymbolTable& symbols,
                      const std::vector<uint32_t>& module_number) {
  const uint32_t first = first_of_recursion(svma);
  Frame frame;
  std::string name = "???";
  if (first < recording.locations.size()) {
    const Location& location = recording.locations[first];
    if (location.module < module_number.size()) frame.module = module_number[location.module];
    name = fmt::format("0x{:X}", location.svma - 1);
  }
  if (first < symbols.frames.size() && !symbols.frames[first].empty()) {
    const std::string& function = symbols.frames[first].back().function;
    if (!function.empty()) name = plain_function(function);
  }
  frame.function = recursion_text(name, frames_of_recursion(svma));
  return frame;
}

}  // namespace

std::vector<uint32_t> add_frames(const Recording& recording, const SymbolTable& symbols, Profile* profile) {
  const std::vector<uint32_t> module_number = add_modules(recording, profile);
  std::vector<uint32_t> start;
  start.reserve(recording.locations.size() + 1);
  for (size_t i = 0; i < recording.locations.size(); ++i) {
    start.push_back(static_cast<uint32_t>(profile->frames.size()));
    const Location& location = recording.locations[i];
    Frame frame;
    frame.svma = location.svma == 0 ? 0 : location.svma - 1;
    frame.inferred = location.inferred;
    if (location.module < module_number.size()) frame.module = module_number[location.module];
    if (is_recursion(location)) {
      profile->frames.push_back(recursion_frame(location.svma, recording, symbols, module_number));
      continue;
    }
    if (i >= symbols.frames.size() || symbols.frames[i].empty()) {
      profile->frames.push_back(frame);
      continue;
    }
    for (const SourceFrame& source : symbols.frames[i]) {
      frame.function = source.function;
      frame.file = source.file;
      frame.line = source.line;
      frame.inlined = source.inlined;
      profile->frames.push_back(frame);
    }
  }
  start.push_back(static_cast<uint32_t>(profile->frames.size()));
  return start;
}

std::vector<char> find_agent_modules(const std::vector<Module>& modules) {
  std::vector<char> is_agent;
  is_agent.reserve(modules.size());
  for (const Module& module : modules) is_agent.push_back(base_name_view(module.path) == "libheapprof.so" ? 1 : 0);
  return is_agent;
}

std::vector<uint32_t> add_nodes(const Recording& recording, const std::vector<uint32_t>& frame_start,
                                const std::vector<char>* is_used, Profile* profile) {
  const std::vector<char> is_agent = find_agent_modules(recording.modules);
  profile->nodes.assign(1, {});
  if (is_used == nullptr) profile->nodes.reserve(recording.stacks.size() * 3 / 2 + 1);
  std::vector<uint32_t> node_of(recording.stacks.size(), 0);
  for (size_t i = 1; i < recording.stacks.size(); ++i) {
    if (is_used != nullptr && (*is_used)[i] == 0) continue;
    const StackNode& stack = recording.stacks[i];
    if (stack.parent >= i || stack.location >= recording.locations.size()) continue;
    uint32_t node = node_of[stack.parent];
    const uint32_t module = recording.locations[stack.location].module;
    if (module < is_agent.size() && is_agent[module] != 0) {
      node_of[i] = node;
      continue;
    }
    for (uint32_t frame = frame_start[stack.location + 1]; frame-- > frame_start[stack.location];) {
      profile->nodes.push_back({node, frame});
      node = static_cast<uint32_t>(profile->nodes.size() - 1);
    }
    node_of[i] = node;
  }
  return node_of;
}

namespace {

// Sets all members except node, steps and stays. pre: the site has no numbers
void set_site(const RecordedDevice& recorded, const RecordedSite& from, Site* to) {
  Site& site = *to;
  static_cast<SiteNumbers&>(site.numbers) = from.numbers;
  if (from.sizes_row > 0 && from.sizes_row <= recorded.sizes.size()) {
    site.numbers.sizes = SizeHistogram(recorded.sizes[from.sizes_row - 1]);
  } else {
    site.numbers.sizes.set(size_bucket(from.numbers.largest_bytes), from.numbers.total_blocks);
  }
  site.truncated = from.truncated;
  const size_t moments = recorded.moments_ns.size();
  if (from.live_row > 0 && moments > 0 && from.live_row <= recorded.live_bytes.size() / moments) {
    const auto end = recorded.live_bytes.begin() + static_cast<std::ptrdiff_t>(from.live_row * moments);
    site.live_bytes.assign(end - static_cast<std::ptrdiff_t>(moments), end);
  }
}

}  // namespace

void make_site(const RecordedDevice& recorded, const RecordedSite& from, SiteCursor* cursor, Site* site) {
  site->numbers.sizes = {};
  site->live_bytes.clear();
  site->steps.clear();
  site->stays.clear();
  set_site(recorded, from, site);
  const auto index = static_cast<uint32_t>(&from - recorded.sites.data());
  size_t& step = cursor->step;
  while (step < recorded.steps.size() && recorded.steps[step].site < index) ++step;
  for (size_t at = step; at < recorded.steps.size() && recorded.steps[at].site == index; ++at)
    site->steps.push_back({recorded.steps[at].snapshot, recorded.steps[at].live_bytes, recorded.steps[at].live_blocks});
  size_t& stay = cursor->stay;
  while (stay < recorded.stays.size() && recorded.stays[stay].site < index) ++stay;
  for (size_t at = stay; at < recorded.stays.size() && recorded.stays[at].site == index; ++at)
    site->stays.push_back(recorded.stays[at].stay);
}

Site make_site(const RecordedDevice& recorded, const RecordedSite& from) {
  Site site;
  set_site(recorded, from, &site);
  const auto index = static_cast<uint32_t>(&from - recorded.sites.data());
  auto step = std::lower_bound(recorded.steps.begin(), recorded.steps.end(), index,
                               [](const RecordedStep& it, uint32_t wanted) { return it.site < wanted; });
  for (; step != recorded.steps.end() && step->site == index; ++step)
    site.steps.push_back({step->snapshot, step->live_bytes, step->live_blocks});
  auto stay = std::lower_bound(recorded.stays.begin(), recorded.stays.end(), index,
                               [](const RecordedStay& it, uint32_t wanted) { return it.site < wanted; });
  for (; stay != recorded.stays.end() && stay->site == index; ++stay) site.stays.push_back(stay->stay);
  return site;
}

void record_only(const Site& site, RecordedDevice* device) {
  std::vector<RecordedSite>().swap(device->sites);
  std::vector<SizeCounts>().swap(device->sizes);
  std::vector<RecordedStep>().swap(device->steps);
  std::vector<RecordedStay>().swap(device->stays);
  std::vector<uint64_t>().swap(device->bounds_ns);
  if (site.numbers.total_blocks == 0) return;
  SizeCounts& counts = device->sizes.emplace_back();
  for (int bucket = 0; bucket < kSizeBuckets; ++bucket)
    counts[static_cast<size_t>(bucket)] = site.numbers.sizes[bucket];
  device->sites.push_back({0, false, site.numbers, 0, 1});
  for (const SiteStep& step : site.steps)
    device->steps.push_back({0, step.snapshot, step.live_bytes, step.live_blocks});
}

Device make_device_without_sites(const RecordedDevice& recorded) {
  Device device;
  device.name = recorded.name;
  device.totals = recorded.totals;
  device.timeline = recorded.timeline;
  device.moments_ns = recorded.moments_ns;
  device.bounds_ns = recorded.bounds_ns;
  device.identity = recorded.identity;
  device.held = recorded.held;
  device.use = recorded.use;
  device.limit_bytes = recorded.limit_bytes;
  device.refusals = recorded.refusals;
  device.lost_owners = recorded.lost_owners;
  device.held_by = recorded.held_by;
  device.fragmentation = recorded.fragmentation;
  device.untouched = recorded.untouched;
  device.unseen = recorded.unseen;
  device.segments = recorded.segments;
  device.names = recorded.names;
  return device;
}

}  // namespace heapprof::cli
