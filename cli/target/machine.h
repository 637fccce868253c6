// cli/target/machine.h: describes the machine on which a profile is taken.
#pragma once

#include "cli/model/profile/run.h"

#include <string>

namespace heapprof::cli {

// Finds everything but Machine::libc, which the agent reports.
Machine describe_machine();

// The processor's name, as its maker gives it; empty: unknown. In cli/arch.
std::string cpu_model();

}  // namespace heapprof::cli
