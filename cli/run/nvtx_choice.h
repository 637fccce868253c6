// cli/run/nvtx_choice.h: how the agent gets to hear of the program's ranges of NVTX.
//
// NVTX loads one tool, which a variable names. Where nobody has set it, that is the agent. Where another tool stands
// there, the variable stays, and the agent comes in beside that tool (agent/nvtx/tables.h). A tool of the CUDA driver's
// may set the variable itself, and would not if it found it set: so the agent stands back where one is named.
#pragma once

#include "cli/base/problems.h"

#include <optional>
#include <string>

namespace heapprof::cli {

struct NvtxChoice {
  std::string agent;               // what the variable is to name; empty: it stays as it is
  std::optional<Problem> warning;  // ranges may not be seen
};

// By heapprof's own environment, which is the program's.
NvtxChoice choose_nvtx(const std::string& agent);

}  // namespace heapprof::cli
