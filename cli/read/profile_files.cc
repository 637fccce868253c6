// cli/read/profile_files.cc: see profile_files.h.
#include "cli/read/profile_files.h"

#include "cli/base/problems.h"

#include <algorithm>
#include <filesystem>

namespace heapprof::cli {

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

Result<std::vector<std::string>> profiles_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(".json") || name.ends_with(".json.gz")) files.push_back(entry->path().string());
  }
  if (error) return profile_not_readable(folder, error.message());
  if (files.empty()) return folder_without_profiles(folder);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace heapprof::cli
