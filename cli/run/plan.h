// cli/run/plan.h: decides how the processes of a run are profiled, from the flags of `heapprof run` and from what the
// machine can do.
#pragma once

#include "cli/run/processes.h"
#include "cli/run/run.h"

namespace heapprof::cli {

// Sets everything except root_pid, the program's pid.
ProcessPlan make_plan(const RunOptions& options);

}  // namespace heapprof::cli
