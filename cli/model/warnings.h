// cli/model/warnings.h: what a reader of a profile must be told before they trust it.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile.h"

#include <vector>

namespace heapprof::cli {

// Lost events first; empty: the profile is whole. Files of other tools carry nothing to warn of.
std::vector<Problem> find_warnings(const Profile& profile);

}  // namespace heapprof::cli
