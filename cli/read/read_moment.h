// cli/read/read_moment.h: FILE, or FILE@SNAPSHOT: one snapshot of a profile as a profile of its own.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <string>

namespace heapprof::cli {

// A file of that whole name is meant before a snapshot is.
Result<Profile> read_profile_or_moment(const std::string& name);

}  // namespace heapprof::cli
