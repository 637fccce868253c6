// cli/write/report/scopes/instances_text.h: single runs through scopes: those that took longest, and those that grew
// most.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

struct InstancesLook {
  size_t columns = 80;
  bool exact_bytes = false;
  size_t top = 5;  // of each list
};

// For each scope that the glob matches (cli/model/analysis/scope_paths.h).
std::string instances_text(const Profile& profile, const std::string& glob, const InstancesLook& look);

}  // namespace heapprof::cli
