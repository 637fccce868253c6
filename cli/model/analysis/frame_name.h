// cli/model/analysis/frame_name.h: a frame's function name in its usual short form.
#pragma once

#include "cli/model/profile/profile.h"

#include <string>

namespace heapprof::cli {

// C++ names lose return type and parameters (cli/base/function_name.h). Python names are unchanged, except for the mark
// of a nested function: "load.<locals>.parse" is "load.parse". Empty if it has no name.
std::string frame_name(const Profile& profile, const Frame& frame);

}  // namespace heapprof::cli
