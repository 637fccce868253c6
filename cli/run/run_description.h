// cli/run/run_description.h: adds what was known of a process at its start to what was counted.
#pragma once

#include "cli/model/profile/run.h"

namespace heapprof::cli {

// Moves *known; what the agent reported later about programs and libraries stays.
void describe_run(RunInfo* known, RunInfo* run);

}  // namespace heapprof::cli
