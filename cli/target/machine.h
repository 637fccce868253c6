// cli/target/machine.h: on what machine a profile was taken.
#pragma once

#include "cli/model/profile/run.h"

namespace heapprof::cli {

// Everything but Machine::libc, which the agent reports.
Machine describe_machine();

}  // namespace heapprof::cli
