// cli/model/profile/name_frames.cc: treats a profile's frames as assemble_steps.h treats a recording's locations. One
// frame becomes the frames that were inlined there, one node becomes a path of them, and canonicalize() merges frames
// and stacks that now read alike.
//
// A frame into which others were inlined was named already, and must not be expanded again. In rare cases it has no
// source file, so it looks nameless. It is recognised by the inlined frames that follow it in the tree.
#include "cli/model/profile/name_frames.h"

#include "cli/model/profile/canonical.h"
#include "cli/model/profile/frame_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr uint32_t kNoLocation = 0xffffffff;

std::vector<char> find_expanded(const Profile& profile) {
  std::vector<char> is_expanded(profile.frames.size(), 0);
  for (size_t i = 1; i < profile.nodes.size(); ++i) {
    const FrameNode& node = profile.nodes[i];
    if (node.parent == 0 || !profile.frames[node.frame].inlined) continue;
    const uint32_t outer = profile.nodes[node.parent].frame;
    if (profile.frames[outer].svma == profile.frames[node.frame].svma) is_expanded[outer] = 1;
  }
  return is_expanded;
}

bool has_function(const std::vector<SourceFrame>& chain) {
  return std::any_of(chain.begin(), chain.end(), [](const SourceFrame& frame) { return !frame.function.empty(); });
}

bool has_line(const std::vector<SourceFrame>& chain) {
  return std::any_of(chain.begin(), chain.end(), [](const SourceFrame& frame) { return !frame.file.empty(); });
}

// Whether the found names say at least as much as those in the profile.
bool is_better(const std::vector<SourceFrame>& chain, bool had_function) {
  return has_function(chain) || (has_line(chain) && !had_function);
}

struct Chain {
  uint32_t first = 0;  // frames[first … last), innermost first; empty: the frame does not change
  uint32_t last = 0;
};

// Appends the chains' frames to those of the profile.
std::vector<Chain> add_chains(const NamelessFrames& nameless, const SymbolTable& table, Profile* profile) {
  std::vector<Chain> chains(profile->frames.size());
  for (size_t i = 0; i < nameless.locations.size(); ++i) {
    const std::vector<SourceFrame>& found = table.frames[i];
    if (!is_better(found, nameless.have_functions[i] != 0)) continue;
    const std::string known = profile->frames[nameless.frames[i]].function;
    Frame frame = profile->frames[nameless.frames[i]];
    Chain& chain = chains[nameless.frames[i]];
    chain.first = static_cast<uint32_t>(profile->frames.size());
    for (const SourceFrame& source : found) {
      const bool is_outermost = &source == &found.back();
      frame.function = is_outermost && source.function.empty() ? known : source.function;
      frame.file = source.file;
      frame.line = source.line;
      frame.inlined = source.inlined;
      profile->frames.push_back(frame);
    }
    chain.last = static_cast<uint32_t>(profile->frames.size());
  }
  return chains;
}

// Finds open pairs (inferred_calls.h) in a profile's stacks, where tail calls may have elided frames.
class OpenCalls {
 public:
  OpenCalls(const NamelessFrames& nameless, const SymbolTable& table, const Profile& profile)
      : nameless_(nameless), table_(table), nodes_(profile.nodes), location_of_(profile.frames.size(), kNoLocation) {
    if (table.calls.size() != nameless.locations.size()) return;
    for (uint32_t i = 0; i < nameless.frames.size(); ++i) {
      if (is_better(table.frames[i], nameless.have_functions[i] != 0)) location_of_[nameless.frames[i]] = i;
    }
  }

  // Between a node and its parent.
  std::optional<CallPair> above(uint32_t node) const {
    const uint32_t outer = location_of(nodes_[node].parent);
    const uint32_t inner = location_of(node);
    if (outer == kNoLocation || inner == kNoLocation) return std::nullopt;
    return open_call(named(outer), named(inner));
  }

  // The open pair of a site's node and its allocation.
  std::optional<CallPair> below(uint32_t node) const {
    const uint32_t innermost = location_of(node);
    return innermost == kNoLocation ? std::nullopt : open_call(named(innermost));
  }

 private:
  NamedLocation named(uint32_t location) const {
    return {nameless_.locations[location], table_.calls[location], table_.frames[location]};
  }
  uint32_t location_of(uint32_t node) const { return node == 0 ? kNoLocation : location_of_[nodes_[node].frame]; }

  const NamelessFrames& nameless_;
  const SymbolTable& table_;
  const std::vector<FrameNode>& nodes_;
  std::vector<uint32_t> location_of_;  // by frame
};

// Appends the inferred frames: a chain for each address.
std::map<std::pair<uint32_t, uint64_t>, Chain> add_inferred_chains(const InferredCalls& inferred, Profile* profile) {
  std::map<std::pair<uint32_t, uint64_t>, Chain> chains;
  for (const auto& [pair, path] : inferred) {
    for (const InferredCall& call : path) {
      const auto [entry, is_new] = chains.try_emplace({pair.module, call.svma});
      if (!is_new) continue;
      entry->second.first = static_cast<uint32_t>(profile->frames.size());
      for (const SourceFrame& source : call.frames) {
        profile->frames.push_back(
            {call.svma - 1, source.function, source.file, source.line, pair.module, source.inlined, true});
      }
      entry->second.last = static_cast<uint32_t>(profile->frames.size());
    }
  }
  return chains;
}

void expand_nodes(const std::vector<Chain>& chains, const InferredCalls& inferred, const OpenCalls& open,
                  Profile* profile) {
  const std::map<std::pair<uint32_t, uint64_t>, Chain> inferred_chains = add_inferred_chains(inferred, profile);
  std::vector<FrameNode> nodes(1);
  nodes.reserve(profile->nodes.size());
  std::vector<uint32_t> new_node(std::max<size_t>(profile->nodes.size(), 1), 0);
  uint32_t node = 0;
  const auto add = [&](uint32_t frame) {
    nodes.push_back({node, frame});
    node = static_cast<uint32_t>(nodes.size() - 1);
  };
  const auto add_path = [&](const std::optional<CallPair>& pair) {
    const auto found = pair ? inferred.find(*pair) : inferred.end();
    if (found == inferred.end()) return;
    for (const InferredCall& call : found->second) {
      const Chain& chain = inferred_chains.at({pair->module, call.svma});
      for (uint32_t frame = chain.last; frame-- > chain.first;) add(frame);
    }
  };
  for (uint32_t i = 1; i < profile->nodes.size(); ++i) {
    const FrameNode& old = profile->nodes[i];
    node = new_node[old.parent];
    add_path(open.above(i));
    const Chain& chain = chains[old.frame];
    if (chain.first == chain.last) add(old.frame);
    for (uint32_t frame = chain.last; frame-- > chain.first;) add(frame);
    new_node[i] = node;
  }
  for (Device& device : profile->devices) {
    for (Site& site : device.sites) {
      node = new_node[site.node];
      if (site.grouped_stacks == 0) add_path(open.below(site.node));
      site.node = node;
    }
  }
  for_each_other_node(*profile, [&](uint32_t& other) { other = new_node[other]; });
  profile->nodes = std::move(nodes);
}

// Removes the warning about modules that could not be read when the profile was written, if they could be read now.
void forget_unread(const std::vector<NamedFrames>& named, Profile* profile) {
  std::vector<std::string>& unread = profile->run.coverage.unread_modules;
  for (size_t i = 0; i < named.size(); ++i) {
    if (named[i].functions_found + named[i].lines_found != 0) std::erase(unread, profile->modules[i].path);
  }
}

}  // namespace

NamelessFrames find_nameless_frames(const Profile& profile) {
  NamelessFrames nameless;
  for (const ProfileModule& module : profile.modules) nameless.modules.push_back({module.path, module.build_id, 0, {}});
  const std::vector<char> is_expanded = find_expanded(profile);
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[i];
    if (frame.svma == 0 || frame.svma == ~uint64_t{0} || frame.module >= profile.modules.size()) continue;
    if (!frame.file.empty() || frame.inlined || frame.inferred || is_expanded[i] != 0) continue;
    nameless.locations.push_back({frame.module, frame.svma + 1});
    nameless.frames.push_back(i);
    nameless.have_functions.push_back(frame.function.empty() ? 0 : 1);
  }
  return nameless;
}

std::vector<CallPair> find_neighbours(const NamelessFrames& nameless, const Profile& profile) {
  std::vector<uint32_t> location_of(profile.frames.size(), kNoLocation);
  for (uint32_t i = 0; i < nameless.frames.size(); ++i) location_of[nameless.frames[i]] = i;
  const auto at = [&](uint32_t node) { return node == 0 ? kNoLocation : location_of[profile.nodes[node].frame]; };
  std::set<CallPair> pairs;
  for (uint32_t i = 1; i < profile.nodes.size(); ++i) {
    const uint32_t outer = at(profile.nodes[i].parent);
    const uint32_t inner = at(i);
    if (outer == kNoLocation || inner == kNoLocation) continue;
    const Location& from = nameless.locations[outer];
    const Location& to = nameless.locations[inner];
    if (from.module == to.module) pairs.insert({from.module, from.svma, to.svma});
  }
  for (const Device& device : profile.devices) {
    for (const Site& site : device.sites) {
      const uint32_t innermost = at(site.node);
      if (innermost == kNoLocation) continue;
      const Location& to = nameless.locations[innermost];
      pairs.insert({to.module, to.svma, 0});
      const uint32_t outer = at(profile.nodes[site.node].parent);
      if (outer == kNoLocation || !is_cpp_runtime(profile.modules[to.module].path)) continue;
      const Location& from = nameless.locations[outer];
      if (from.module != to.module) pairs.insert({from.module, from.svma, 0});
    }
  }
  return {pairs.begin(), pairs.end()};
}

std::vector<NamedFrames> add_names(const NamelessFrames& nameless, const SymbolTable& table, Profile* profile) {
  std::vector<NamedFrames> named(profile->modules.size());
  if (table.frames.size() != nameless.locations.size()) return named;
  for (size_t i = 0; i < nameless.locations.size(); ++i) {
    NamedFrames& of_module = named[nameless.locations[i].module];
    const bool had_function = nameless.have_functions[i] != 0;
    const bool is_found = is_better(table.frames[i], had_function);
    if (had_function) {
      ++of_module.lines_missing;
      of_module.lines_found += is_found && has_line(table.frames[i]) ? 1 : 0;
    } else {
      ++of_module.functions_missing;
      of_module.functions_found += is_found && has_function(table.frames[i]) ? 1 : 0;
    }
  }
  const OpenCalls open(nameless, table, *profile);
  expand_nodes(add_chains(nameless, table, profile), table.inferred, open, profile);
  forget_unread(named, profile);
  canonicalize(profile);
  return named;
}

}  // namespace heapprof::cli
