// cli/model/analysis/frame_name.h: what people call a frame's function.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>

namespace heapprof::cli {

// Of C++ without return type and parameters (cli/base/function_name.h); of Python as it is, but for what says that a
// function is inside of another one: "load.<locals>.parse" is "load.parse". Empty: it has no name.
std::string frame_name(const Profile& profile, const Frame& frame);

}  // namespace heapprof::cli
