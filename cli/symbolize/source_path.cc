// cli/symbolize/source_path.cc: adds and removes parts at the end of the result. ".." at the root is the root; before a
// relative name it stays.
#include "cli/symbolize/source_path.h"

namespace heapprof::cli {
namespace {

void append(std::string_view part, std::string* path) {
  if (part.empty() || part == ".") return;
  if (part == "..") {
    size_t slash = path->rfind('/');
    std::string_view last = std::string_view(*path).substr(slash == std::string::npos ? 0 : slash + 1);
    if (*path == "/") return;
    if (!last.empty() && last != "..") {
      bool is_under_root = slash == 0;
      path->resize(is_under_root ? 1 : slash == std::string::npos ? 0 : slash);
      return;
    }
  }
  if (!path->empty() && path->back() != '/') *path += '/';
  *path += part;
}

void append_all(std::string_view parts, std::string* path) {
  while (!parts.empty()) {
    size_t slash = parts.find('/');
    append(parts.substr(0, slash), path);
    parts.remove_prefix(slash == std::string_view::npos ? parts.size() : slash + 1);
  }
}

}  // namespace

std::string source_path(std::string_view directory, std::string_view file) {
  if (file.empty()) return {};
  if (file.front() == '/') directory = {};
  // libdw may have prepended a relative directory (reproducible builds) already: DWARF 5's directory 0.
  bool is_there = !directory.empty() && file.starts_with(directory) && file.substr(directory.size()).starts_with('/');
  if (is_there) directory = {};
  std::string path;
  path.reserve(directory.size() + file.size() + 1);
  if (file.front() == '/' || (!directory.empty() && directory.front() == '/')) path.push_back('/');
  append_all(directory, &path);
  append_all(file, &path);
  return path;
}

}  // namespace heapprof::cli
