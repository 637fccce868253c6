// cli/model/compare/merge_parts.h: what merge_profiles() keeps of its inputs, and how it adds up their runs.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// ---- largest_places.cc ----

// What a merged profile keeps of where each of its inputs had its memory.

// For each device the places with the most at its peak (none in a file without lifetimes): the first rows that
// `heapprof report` shows without rules of the user.
std::vector<std::vector<PartRow>> find_largest_places(const Profile& profile);

// ---- merge_runs.cc ----

// Combines what is known of several runs: sums, the smaller, the larger, or what they have in common.
//
// Guarantees
//  - The result does not depend on the order in which runs are added, or on sums in between.
struct AddedRun {
  const Profile& profile;  // used: its run, and whether it is a sum
  std::string file;        // its name, for messages
  bool is_first = false;
};
void add_run(const AddedRun& added, RunInfo* into);

}  // namespace heapprof::cli
