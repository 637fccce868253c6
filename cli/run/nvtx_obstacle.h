// cli/run/nvtx_obstacle.h: why the agent may not receive the program's NVTX ranges.
//
// NVTX loads one tool, which a variable names. If it is not set, NVTX finds the agent there. If it names another tool,
// the agent works beside that tool (agent/nvtx/tables.h). A tool of the CUDA driver may set the variable itself, and
// would not if it were set already: so if such a tool is named, the agent does not set it.
#pragma once

#include "cli/base/problems.h"

#include <optional>

namespace heapprof::cli {

// Looks at heapprof's own environment, which is the program's.
std::optional<Problem> find_nvtx_obstacle();

}  // namespace heapprof::cli
