// cli/target/machine.h: describes the machine on which a profile is taken.
#pragma once

#include "cli/model/profile/run.h"

namespace heapprof::cli {

// Finds everything but Machine::libc, which the agent reports.
Machine describe_machine();

}  // namespace heapprof::cli
