// cli/read/profile_files.h: the files that a command-line argument refers to: itself, or the profiles of a folder.
#pragma once

#include "cli/base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

bool is_folder(const std::string& path);

// The *.json and *.json.gz files of a folder, by name, without its subfolders. A folder without such files is a
// problem.
Result<std::vector<std::string>> profiles_in(const std::string& folder);

// The name of the newest file in a folder among *.json, *.json.gz and dhat.out.* whose first bytes are those of a
// profile. Among files of the same age, the one with the shorter name: a run's FILE, not the FILE.PID of a child
// process.
std::optional<std::string> newest_profile(const std::string& folder);

}  // namespace heapprof::cli
