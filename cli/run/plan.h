// cli/run/plan.h: how the processes of a run are profiled, by the flags of `heapprof run` and the machine.
#pragma once

#include "cli/run/processes.h"
#include "cli/run/run.h"

namespace heapprof::cli {

// Sets all but the program's pid.
ProcessPlan make_plan(const RunOptions& options);

}  // namespace heapprof::cli
