// cli/commands/profile_path.cc: see profile_path.h.
#include "cli/commands/profile_path.h"

#include <fmt/format.h>

#include <filesystem>

namespace heapprof::cli {

namespace {

std::string insert_before_extension(const std::string& path, const std::string& part) {
  const std::filesystem::path whole(path);
  const std::string extension = whole.extension().string();
  return path.substr(0, path.size() - extension.size()) + "." + part + extension;
}

}  // namespace

std::string default_profile_path(const std::string& program, uint64_t pid) {
  return fmt::format("heapprof.{}.{}.json", std::filesystem::path(program).filename().string(), pid);
}

std::string profile_path(const std::string& root_path, const ImageName& image) {
  std::string path = root_path;
  if (!image.is_root) path = insert_before_extension(path, fmt::format("{}", image.pid));
  if (!image.is_last) path = insert_before_extension(path, fmt::format("exec{}", image.image + 1));
  return path;
}

}  // namespace heapprof::cli
