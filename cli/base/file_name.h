// cli/base/file_name.h: the last part of a path.
#pragma once

#include <string>
#include <string_view>

namespace heapprof::cli {

// What follows the last slash: all of it if there is none, nothing if the path ends in one.
inline std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace heapprof::cli
