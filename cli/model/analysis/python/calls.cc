// cli/model/analysis/python/calls.cc: one pass over the tree, from the outermost frames inwards.
#include "cli/model/analysis/python/calls.h"

#include "cli/base/file_name.h"
#include "cli/model/profile/python_code.h"

#include <string_view>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

uint32_t find_python_module(const Profile& profile) {
  for (uint32_t i = 0; i < profile.modules.size(); ++i) {
    if (profile.modules[i].path == kPythonModule) return i;
  }
  return kNone;
}

bool is_evaluator(const Frame& frame) { return frame.function == "_PyEval_EvalFrameDefault"; }

// Greenlet is recognised by its object file, because a stripped one has no function names.
std::vector<bool> find_greenlet_modules(const Profile& profile) {
  std::vector<bool> is_greenlet;
  for (const ProfileModule& module : profile.modules)
    is_greenlet.push_back(base_name_view(module.path).find("greenlet") != std::string_view::npos);
  return is_greenlet;
}

}  // namespace

uint64_t count_unread_python_sites(const Profile& profile) {
  const uint32_t python = find_python_module(profile);
  if (python == kNone) return 0;
  const std::vector<bool> is_greenlet = find_greenlet_modules(profile);
  std::vector<bool> ends_in_call(profile.nodes.size());  // in the evaluator, or a function inlined into it
  std::vector<bool> has_unread(profile.nodes.size());
  for (size_t i = 1; i < profile.nodes.size(); ++i) {
    const uint32_t parent = profile.nodes[i].parent;
    const Frame& frame = profile.frames[profile.nodes[i].frame];
    const bool goes_on = frame.inlined && ends_in_call[parent];
    ends_in_call[i] = goes_on || is_evaluator(frame);
    has_unread[i] = has_unread[parent] || (ends_in_call[parent] && !goes_on && frame.module != python);
    if (frame.module < is_greenlet.size() && is_greenlet[frame.module]) has_unread[i] = false;
  }
  uint64_t sites = 0;
  for (const Device& device : profile.devices) {
    for (const Site& site : device.sites) {
      if (site.grouped_stacks == 0 && (has_unread[site.node] || ends_in_call[site.node])) ++sites;
    }
  }
  return sites;
}

}  // namespace heapprof::cli
