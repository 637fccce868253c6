// cli/run/nvtx_obstacle.h: why the agent may not receive the program's NVTX ranges.
//
// NVTX loads one tool, which an environment variable names. If the variable is not set, the agent makes getenv return
// the agent's path (agent/nvtx/variable.cc). If the variable names another tool, the agent works together with that
// tool (agent/nvtx/tables.h). A tool of the CUDA driver may set the variable itself, but only if it is not set yet. So
// if another variable names a CUDA tool, the agent leaves NVTX to that tool.
#pragma once

#include "cli/base/problems.h"

#include <optional>

namespace heapprof::cli {

// Looks at heapprof's own environment, which the program inherits.
std::optional<Problem> find_nvtx_obstacle();

}  // namespace heapprof::cli
