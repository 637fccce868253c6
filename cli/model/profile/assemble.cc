// cli/model/profile/assemble.cc: each location is expanded once into its frames, each stack node once into a path of
// frame nodes: the tree stays a tree, and no site ever has a list of its own.
#include "cli/model/profile/assemble.h"

#include "cli/base/file_name.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/site_numbers.h"

#include <map>
#include <utility>

namespace heapprof::cli {
namespace {

// One library may be loaded twice, or again at another address: it is one module.
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

// Frames of location i: profile->frames[start[i] … start[i + 1]), innermost first.
std::vector<uint32_t> add_frames(const Recording& recording, const SymbolTable& symbols, Profile* profile) {
  const std::vector<uint32_t> module_number = add_modules(recording, profile);
  std::vector<uint32_t> start;
  start.reserve(recording.locations.size() + 1);
  for (size_t i = 0; i < recording.locations.size(); ++i) {
    start.push_back(static_cast<uint32_t>(profile->frames.size()));
    const Location& location = recording.locations[i];
    Frame frame;
    frame.svma = location.svma == 0 ? 0 : location.svma - 1;
    if (location.module < module_number.size()) frame.module = module_number[location.module];
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

// The agent's functions that stand between a program and the CUDA runtime are no part of the program.
bool is_agent(const std::vector<Module>& modules, uint32_t module) {
  if (module >= modules.size()) return false;
  return base_name_view(modules[module].path) == "libheapprof.so";
}

// The frame node of each stack node.
std::vector<uint32_t> add_nodes(const Recording& recording, const std::vector<uint32_t>& frame_start,
                                Profile* profile) {
  profile->nodes.assign(1, {});
  profile->nodes.reserve(recording.stacks.size() * 3 / 2 + 1);
  std::vector<uint32_t> node_of(recording.stacks.size(), 0);
  for (size_t i = 1; i < recording.stacks.size(); ++i) {
    const StackNode& stack = recording.stacks[i];
    if (stack.parent >= i || stack.location >= recording.locations.size()) continue;
    uint32_t node = node_of[stack.parent];
    if (is_agent(recording.modules, recording.locations[stack.location].module)) {
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

Device make_device(const RecordedDevice& recorded, const std::vector<uint32_t>& node_of) {
  Device device;
  device.name = recorded.name;
  device.totals = recorded.totals;
  device.timeline = recorded.timeline;
  device.moments_ns = recorded.moments_ns;
  device.sites.reserve(recorded.sites.size());
  for (const RecordedSite& from : recorded.sites) {
    Site site;
    site.node = from.stack < node_of.size() ? node_of[from.stack] : 0;
    site.numbers = from.numbers;
    site.truncated = from.truncated;
    const size_t moments = recorded.moments_ns.size();
    if (from.live_row > 0 && moments > 0 && from.live_row <= recorded.live_bytes.size() / moments) {
      const auto end = recorded.live_bytes.begin() + static_cast<std::ptrdiff_t>(from.live_row * moments);
      site.live_bytes.assign(end - static_cast<std::ptrdiff_t>(moments), end);
    }
    device.sites.push_back(std::move(site));
  }
  device.identity = recorded.identity;
  device.held = recorded.held;
  device.use = recorded.use;
  device.limit_bytes = recorded.limit_bytes;
  device.refusals = recorded.refusals;
  device.unseen = recorded.unseen;
  return device;
}

}  // namespace

void forget_other_stacks(Recording* recording) {
  for (RecordedDevice& device : recording->devices) {
    for (Refusal& refusal : device.refusals) std::vector<LiveSite>().swap(refusal.live_sites);
  }
  for_each_other_node(*recording, [](uint32_t& node) { node = 0; });
  merge_api(&recording->api);
}

void drop_stacks(Recording* recording) {
  for (RecordedDevice& device : recording->devices) {
    Site sum;
    for (const RecordedSite& recorded : device.sites) {
      Site site;
      site.numbers = recorded.numbers;
      merge_site(&sum, site, device.totals.peak_bytes);
    }
    // The sum of the sites is the device: its maximum is the peak.
    sum.numbers.max_bytes = device.totals.peak_bytes;
    sum.numbers.max_blocks = device.totals.peak_blocks;
    std::vector<RecordedSite>().swap(device.sites);
    std::vector<uint64_t>().swap(device.live_bytes);
    if (sum.numbers.total_blocks != 0) device.sites.push_back({0, false, sum.numbers});
  }
  forget_other_stacks(recording);
  std::vector<StackNode>(1).swap(recording->stacks);
  std::vector<Location>().swap(recording->locations);
  note_dropped_stacks(&recording->run);
}

void note_dropped_stacks(RunInfo* run) {
  std::string reason = run->complete ? std::string(kMemoryLimitReason) : run->incomplete_reason + ";";
  run->incomplete_reason = reason + " and had no room for the stacks";
  run->complete = false;
}

Profile assemble(const Recording& recording, const SymbolTable& symbols) {
  Profile profile;
  profile.run = recording.run;
  const std::vector<uint32_t> frame_start = add_frames(recording, symbols, &profile);
  const std::vector<uint32_t> node_of = add_nodes(recording, frame_start, &profile);
  for (const RecordedDevice& device : recording.devices) profile.devices.push_back(make_device(device, node_of));
  profile.api = recording.api;
  for_each_other_node(profile, [&](uint32_t& node) { node = node < node_of.size() ? node_of[node] : 0; });
  canonicalize(&profile);
  return profile;
}

}  // namespace heapprof::cli
