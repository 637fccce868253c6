// cli/run/nvtx_obstacle.h: why the agent may not hear of the program's ranges of NVTX.
//
// NVTX loads one tool, which a variable names. Where nobody has set it, NVTX finds the agent there. Where another tool
// stands there, the agent comes in beside that tool (agent/nvtx/tables.h). A tool of the CUDA driver's may set the
// variable itself, and would not if it found it set: so the agent stands back where one is named.
#pragma once

#include "cli/base/problems.h"

#include <optional>

namespace heapprof::cli {

// By heapprof's own environment, which is the program's.
std::optional<Problem> find_nvtx_obstacle();

}  // namespace heapprof::cli
