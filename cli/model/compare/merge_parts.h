// cli/model/compare/merge_parts.h: what merge_profiles() keeps of its inputs, and how it adds up what is known of
// their runs.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// ---- largest_places.cc ----

// What a merged profile keeps of where each of its inputs had its memory.

// For each device the places with the most at its peak (in a file without lifetimes: none), the first rows that
// `heapprof report` shows of the profile without rules of the user's.
std::vector<std::vector<PartRow>> find_largest_places(const Profile& profile);

// ---- merge_runs.cc ----

// What is known of several runs together: sums, the smaller, the larger, or what they
// have in common.
//
// Guarantees
//  - The result is the same in whatever order runs are added, and however they were added up in between.
struct AddedRun {
  const Profile& profile;  // what is asked of it: its run, and whether it is a sum
  std::string file;        // its name, for what is said of it
  bool is_first = false;
};
void add_run(const AddedRun& added, RunInfo* into);

}  // namespace heapprof::cli
