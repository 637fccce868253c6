// cli/model/analysis/frame_name.cc: see frame_name.h.
#include "cli/model/analysis/frame_name.h"

#include "cli/base/function_name.h"
#include "cli/model/analysis/python/paths.h"

#include <string_view>

namespace heapprof::cli {

std::string frame_name(const Profile& profile, const Frame& frame) {
  constexpr std::string_view kLocals = ".<locals>";
  if (!is_of_python(profile, frame)) return plain_function(frame.function);
  std::string name = frame.function;
  for (size_t at = name.find(kLocals); at != std::string::npos; at = name.find(kLocals, at))
    name.erase(at, kLocals.size());
  return name;
}

}  // namespace heapprof::cli
