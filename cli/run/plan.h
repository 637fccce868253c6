// cli/run/plan.h: what the flags of `heapprof run`, and the machine, say of how its processes are profiled.
#pragma once

#include "cli/run/processes.h"
#include "cli/run/run.h"

namespace heapprof::cli {

// All but the program's pid.
ProcessPlan make_plan(const RunOptions& options);

}  // namespace heapprof::cli
