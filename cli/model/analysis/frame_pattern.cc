// cli/model/analysis/frame_pattern.cc: see frame_pattern.h.
#include "cli/model/analysis/frame_pattern.h"

#include "cli/base/file_name.h"
#include "cli/base/glob.h"
#include "cli/model/analysis/frame_name.h"

#include <algorithm>
#include <string_view>

namespace heapprof::cli {
namespace {

bool path_ends_like(std::string_view glob, std::string_view path) {
  if (glob_matches(glob, path)) return true;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (glob_matches(glob, path.substr(slash + 1))) return true;
  }
  return false;
}

// The names of glibc's files, before 2.34 and since, and of libstdc++.
bool is_libc_module(std::string_view path) {
  const std::string_view name = base_name_view(path);
  for (const std::string_view begin :
       {"libc.so.", "libc-2.", "libstdc++.so.", "libpthread.so.", "libpthread-2.", "libdl.so.", "libdl-2.",
        "libresolv.so.", "libresolv-2.", "libnss_", "librt.so.", "librt-2.", "ld-linux", "ld-2."}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

}  // namespace

FrameMatcher::FrameMatcher(const Profile& profile) : profile_(profile) {
  names_.reserve(profile.frames.size());
  for (const Frame& frame : profile.frames) names_.push_back(frame_name(profile, frame));
}

bool FrameMatcher::fits(const FramePattern& pattern, uint32_t index) const {
  const Frame& frame = profile_.frames[index];
  if (!pattern.function.empty() && (frame.function.empty() || (!glob_matches(pattern.function, frame.function) &&
                                                               !glob_matches(pattern.function, names_[index])))) {
    return false;
  }
  if (!pattern.module.empty()) {
    if (frame.module >= profile_.modules.size()) return false;
    std::string_view path = profile_.modules[frame.module].path;
    if (pattern.module.find('/') == std::string::npos) path = base_name_view(path);
    if (!glob_matches(pattern.module, path)) return false;
  }
  if (pattern.is_of_libc &&
      (frame.module >= profile_.modules.size() || !is_libc_module(profile_.modules[frame.module].path)))
    return false;
  return pattern.file.empty() || (!frame.file.empty() && path_ends_like(pattern.file, frame.file));
}

std::vector<bool> FrameMatcher::stacks_with(const FramePattern& pattern) const {
  std::vector<bool> frames(profile_.frames.size());
  for (uint32_t frame = 0; frame < frames.size(); ++frame) frames[frame] = fits(pattern, frame);
  std::vector<bool> nodes(std::max<size_t>(profile_.nodes.size(), 1));
  for (uint32_t node = 1; node < profile_.nodes.size(); ++node) {
    nodes[node] = nodes[profile_.nodes[node].parent] || frames[profile_.nodes[node].frame];
  }
  return nodes;
}

}  // namespace heapprof::cli
