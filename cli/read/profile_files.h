// cli/read/profile_files.h: which files an argument of the command line stands for: itself, or the profiles of a
// folder.
#pragma once

#include "cli/base/result.h"

#include <string>
#include <vector>

namespace heapprof::cli {

bool is_folder(const std::string& path);

// The *.json and *.json.gz of a folder by name, not those of folders in it; a problem if there are none.
Result<std::vector<std::string>> profiles_in(const std::string& folder);

}  // namespace heapprof::cli
