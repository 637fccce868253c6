// cli/read/profile_files.h: which files an argument of the command line stands for: itself, or the profiles of a
// folder.
#pragma once

#include "cli/base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

bool is_folder(const std::string& path);

// The *.json and *.json.gz of a folder by name, not those of folders in it; a problem if there are none.
Result<std::vector<std::string>> profiles_in(const std::string& folder);

// The name of the file in a folder that was written last, of those that are a profile by their first bytes: *.json,
// *.json.gz and dhat.out.*. Of files that are as old as each other the one with the shorter name: a run's FILE, and not
// FILE.PID of what it started.
std::optional<std::string> newest_profile(const std::string& folder);

}  // namespace heapprof::cli
