// cli/run/run_description.h: completes a recording's RunInfo with what was known when the process started.
#pragma once

#include "cli/model/profile/run.h"

namespace heapprof::cli {

// Moves from *known. Keeps what the agent reported later about programs and libraries.
void describe_run(RunInfo* known, RunInfo* run);

}  // namespace heapprof::cli
