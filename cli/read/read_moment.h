// cli/read/read_moment.h: reads FILE, or FILE@SNAPSHOT: one snapshot as a separate profile.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <string>

namespace heapprof::cli {

// If a file with the whole name exists, it is read; otherwise the part after an @ names a snapshot.
Result<Profile> read_profile_or_moment(const std::string& name);

}  // namespace heapprof::cli
