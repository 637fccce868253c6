// cli/model/analysis/source_lines.h: sums a metric by source line: what each line allocated itself, and what its
// callees allocated.
//
// Guarantees
//  - Each site counts as `itself` in at most one line, that of its place (places.h), and as `called` once in each line
//    on its stack, however often the line occurs there.
//  - A line's `itself` is part of its `called`.
//  - Suppressed leaks (cli/model/analysis/suppressions.h) are not in the numbers of leaks, as in places.
// Cost:     linear in nodes and sites.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

struct LineNumbers {
  uint64_t itself = 0;  // of the metric
  uint64_t itself_blocks = 0;
  uint64_t called = 0;
  uint32_t frame = 0;  // one of the line's frames
};

struct SourceLines {
  std::string file;  // its name in the program's debug information, or in its interpreter
  std::map<uint32_t, LineNumbers> lines;
  uint64_t itself = 0;  // of all lines
};

// The frames of a source file (by its path, or what follows any of its slashes), or else of a function (with or without
// its class or namespace). The name may be a glob. Returns a flag for each frame; empty if no frame matches.
std::vector<bool> find_source_frames(const Profile& profile, std::string_view name);

// For each file, the lines of those frames whose metric is not 0. The file with most `itself` comes first; equal files
// are ordered by name.
std::vector<SourceLines> find_source_lines(const Profile& profile, const PlaceTree& tree, const Device& device,
                                           Metric metric, const std::vector<bool>& frames);

}  // namespace heapprof::cli
