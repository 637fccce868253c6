// cli/target/machine.h: on what machine a profile was taken.
#pragma once

#include "cli/model/profile/run.h"

namespace heapprof::cli {

// Asks the machine for everything but Machine::libc, which the agent reports.
Machine describe_machine();

}  // namespace heapprof::cli
