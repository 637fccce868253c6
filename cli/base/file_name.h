// cli/base/file_name.h: the last part of a path, and the absolute path.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace heapprof::cli {

// What follows the last slash: all of the path without a slash, nothing if the path ends in one. A view into `path`.
inline std::string_view base_name_view(std::string_view path) { return path.substr(path.rfind('/') + 1); }
inline std::string base_name(std::string_view path) { return std::string(base_name_view(path)); }
// From the root. Unchanged if the working folder has been removed.
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
