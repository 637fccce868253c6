// cli/run/run_description.h: of a process what was known at its start, put to what was counted.
#pragma once

#include "cli/model/profile/run.h"

namespace heapprof::cli {

// Moves it; what the agent said later of programs and libraries stays.
void describe_run(RunInfo* known, RunInfo* run);

}  // namespace heapprof::cli
