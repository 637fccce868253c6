// cli/model/profile/invariants.h: checks that a profile's numbers agree with each other.
//
// The tests call it, the writer's caller calls it at the end of each run, and the reader reports a file that fails as
// damaged. Files of other tools are checked only against the guarantees of those tools.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// Returns one sentence for each violation, at most 20; empty if there is none.
std::vector<std::string> find_violations(const Profile& profile);

}  // namespace heapprof::cli
