// cli/base/file_name.h: the last part of a path, and the absolute path.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace heapprof::cli {

// Returns the part after the last slash, as a view into `path`. Without a slash that is the whole path; if the path
// ends in a slash, it is empty.
inline std::string_view base_name_view(std::string_view path) { return path.substr(path.rfind('/') + 1); }
inline std::string base_name(std::string_view path) { return std::string(base_name_view(path)); }
// Returns the path from the root. If the working folder has been removed, returns the path unchanged.
inline std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

// Whether two output names, or an input and an output name, refer to the same regular file.
inline bool name_one_file(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return false;
  std::error_code error;
  if (std::filesystem::exists(one, error))
    return std::filesystem::is_regular_file(one, error) && std::filesystem::equivalent(one, other, error);
  return std::filesystem::path(absolute_path(one)).lexically_normal() ==
         std::filesystem::path(absolute_path(other)).lexically_normal();
}

}  // namespace heapprof::cli
