// cli/model/analysis/source_lines.h: a metric by lines of source: what each line asked for itself, and what was asked
// for in what it called.
//
// Guarantees
//  - Each site counts `itself` in one line at most: that of its place (places.h); and `called` once in each line that
//    is on its stack, however often it stands there.
//  - What a line has itself is part of what it has called.
//  - What a rule of cli/model/analysis/suppressions.h explains is in none of the numbers of leaks, as in places.
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
  uint32_t frame = 0;  // one of those that stand for the line
};

struct SourceLines {
  std::string file;  // as the program's debug information, or its interpreter, names it
  std::map<uint32_t, LineNumbers> lines;
  uint64_t itself = 0;  // of all lines
};

// The frames that are meant by the name of a source file (its path, or what follows any of its slashes), or else by
// that of a function (with or without what it is a member of). Both may be globs. By frame; empty: no frame.
std::vector<bool> find_source_frames(const Profile& profile, std::string_view name);

// Of each file the lines of those frames that have some of the metric; the file with most itself first, then by name.
std::vector<SourceLines> find_source_lines(const Profile& profile, const PlaceTree& tree, const Device& device,
                                           Metric metric, const std::vector<bool>& frames);

}  // namespace heapprof::cli
