// cli/model/profile/name_frames.cc: what assemble_steps.h does with a recording's locations is done with a profile's
// frames: one frame becomes the frames that were inlined there, one node a path of them, and canonicalize makes one of
// what reads alike now.
//
// The frame that others were inlined into has an address, a module and, seldom, no source file: it is one of those that
// were named already, and would be expanded twice. It is known by the inlined frames that hang below it in the tree.
#include "cli/model/profile/name_frames.h"

#include "cli/model/profile/canonical.h"
#include "cli/model/profile/frame_text.h"

#include <algorithm>
#include <map>
#include <utility>

namespace heapprof::cli {
namespace {

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

// Whether what was found says more than what stands in the profile, or the same.
bool is_better(const std::vector<SourceFrame>& chain, bool had_function) {
  return has_function(chain) || (has_line(chain) && !had_function);
}

struct Chain {
  uint32_t first = 0;  // frames[first … last): innermost first; empty: the frame stays
  uint32_t last = 0;
};

// The chains' frames stand behind those of the profile.
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

void expand_nodes(const std::vector<Chain>& chains, Profile* profile) {
  std::vector<FrameNode> nodes(1);
  nodes.reserve(profile->nodes.size());
  std::vector<uint32_t> new_node(std::max<size_t>(profile->nodes.size(), 1), 0);
  for (size_t i = 1; i < profile->nodes.size(); ++i) {
    const FrameNode& old = profile->nodes[i];
    uint32_t node = new_node[old.parent];
    const auto add = [&](uint32_t frame) {
      nodes.push_back({node, frame});
      node = static_cast<uint32_t>(nodes.size() - 1);
    };
    const Chain& chain = chains[old.frame];
    if (chain.first == chain.last) add(old.frame);
    for (uint32_t frame = chain.last; frame-- > chain.first;) add(frame);
    new_node[i] = node;
  }
  for (Device& device : profile->devices) {
    for (Site& site : device.sites) site.node = new_node[site.node];
  }
  for_each_other_node(*profile, [&](uint32_t& node) { node = new_node[node]; });
  profile->nodes = std::move(nodes);
}

// A module that could not be read when the profile was written, and now was, is no reason for a warning any more.
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
    if (!frame.file.empty() || frame.inlined || is_expanded[i] != 0) continue;
    nameless.locations.push_back({frame.module, frame.svma + 1});
    nameless.frames.push_back(i);
    nameless.have_functions.push_back(frame.function.empty() ? 0 : 1);
  }
  return nameless;
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
  expand_nodes(add_chains(nameless, table, profile), profile);
  forget_unread(named, profile);
  canonicalize(profile);
  return named;
}

}  // namespace heapprof::cli
