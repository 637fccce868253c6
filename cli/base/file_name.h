// cli/base/file_name.h: the last part of a path.
#pragma once

#include <string>
#include <string_view>

namespace heapprof::cli {

// What follows the last slash: all of it if there is none, nothing if the path ends in one. A part of what it is given.
inline std::string_view base_name_view(std::string_view path) { return path.substr(path.rfind('/') + 1); }
inline std::string base_name(std::string_view path) { return std::string(base_name_view(path)); }

}  // namespace heapprof::cli
