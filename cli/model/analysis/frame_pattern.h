// cli/model/analysis/frame_pattern.h: selects frames by globs for function, module and source file.
//
// Trust:    patterns and names may be any bytes.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// Globs, all of which a frame must match. An empty glob matches everything.
struct FramePattern {
  std::string function;     // the whole name as demangled, or without return type and parameters
  std::string module;       // the file's name, or the whole path if it has a "/"
  std::string file;         // source file: the path or what follows any of its slashes
  bool is_of_libc = false;  // the module is one of the C library's, its loader, or libstdc++
};

// The frames of one profile, prepared for many patterns. Keeps a reference to it.
class FrameMatcher {
 public:
  explicit FrameMatcher(const Profile& profile);

  bool fits(const FramePattern& pattern, uint32_t frame) const;
  const std::string& plain_name(uint32_t frame) const { return names_[frame]; }
  // For each node, whether its frame or one further out fits. So a site matches if any frame of its stack fits.
  std::vector<bool> stacks_with(const FramePattern& pattern) const;

 private:
  const Profile& profile_;
  std::vector<std::string> names_;  // by frame: without return type and parameters
};

}  // namespace heapprof::cli
