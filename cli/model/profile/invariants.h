// cli/model/profile/invariants.h: checks that numbers which must agree do.
//
// The tests call it, the writer's caller calls it at the end of each run, and the reader reports a file that fails as
// damaged. Files of other tools are checked only for what those tools promise.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// One sentence for each violation, at most 20; empty: all is well.
std::vector<std::string> find_violations(const Profile& profile);

}  // namespace heapprof::cli
