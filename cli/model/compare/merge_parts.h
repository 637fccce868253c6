// cli/model/compare/merge_parts.h: what merge_profiles() keeps of its inputs, and how it adds up their runs.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// ---- largest_places.cc ----

// The largest places of each input, which a merged profile keeps.

// For each device, the places with the most memory at its peak, as in the first rows that `heapprof report` shows
// without rules of the user. A file without lifetimes has none.
std::vector<std::vector<PartRow>> find_largest_places(const Profile& profile);

// ---- merge_runs.cc ----

// Combines the facts about several runs, each by its own rule: the sum, the smaller value, the larger value, or what
// the runs have in common.
//
// Guarantees
//  - The result does not depend on the order in which runs are added, or on whether some were summed before.
struct AddedRun {
  const Profile& profile;  // only its run is used, and whether it is a sum
  std::string file;        // its name, for messages
  bool is_first = false;
};
void add_run(const AddedRun& added, RunInfo* into);

}  // namespace heapprof::cli
