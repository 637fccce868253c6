// cli/read/profile_files.cc: see profile_files.h.
#include "cli/read/profile_files.h"

#include "cli/base/problems.h"
#include "cli/read/byte_source.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostBytes = uint64_t{8} << 30;
constexpr size_t kMostOpened = 1000;  // limits the work in a folder of other JSON files

// Every writer puts DHAT's version first; sorted by name (jq -S) it comes after "cmd" and before the numbers.
bool looks_like_profile(const std::string& path) {
  constexpr size_t kHead = 64 << 10;
  const Result<std::unique_ptr<ByteSource>> source = open_source(path, kMostBytes);
  return source && (*source)->next().substr(0, kHead).find("\"dhatFileVersion\"") != std::string_view::npos;
}

}  // namespace

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

std::optional<std::string> newest_profile(const std::string& folder) {
  struct File {
    std::filesystem::file_time_type time;
    std::string name;
  };
  std::vector<File> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(".json") && !name.ends_with(".json.gz") && !name.starts_with("dhat.out.")) continue;
    std::error_code unknown;
    if (!entry->is_regular_file(unknown)) continue;  // a pipe's reader would wait
    const std::filesystem::file_time_type time = entry->last_write_time(unknown);
    if (!unknown) files.push_back({time, name});
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return a.time != b.time ? a.time > b.time : std::tuple(a.name.size(), a.name) < std::tuple(b.name.size(), b.name);
  });
  if (files.size() > kMostOpened) files.resize(kMostOpened);
  for (const File& file : files) {
    if (looks_like_profile(folder + "/" + file.name)) return file.name;
  }
  return std::nullopt;
}

}  // namespace heapprof::cli
