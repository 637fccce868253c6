// cli/model/compare/merge_runs.h: what is known of several runs together: sums, the smaller, the larger, or what they
// have in common.
//
// Guarantees
//  - The result is the same in whatever order runs are added, and however they were added up in between.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>

namespace heapprof::cli {

struct AddedRun {
  const Profile& profile;  // what is asked of it: its run, and whether it is a sum
  std::string file;        // its name, for what is said of it
  bool is_first = false;
};
void add_run(const AddedRun& added, RunInfo* into);

}  // namespace heapprof::cli
