// cli/run/own_cost.h: measures what heapprof itself has used of the machine.
#pragma once

#include "cli/model/profile/run.h"

namespace heapprof::cli {

// Processor time and peak memory of this process, until now.
void measure_own_cost(Cost* cost);

}  // namespace heapprof::cli
