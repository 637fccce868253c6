// cli/flags/suppression_options.h: the flags about known leaks that `run` and `report` share.
#pragma once

#include "cli/flags/options.h"
#include "cli/read/read_suppressions.h"

namespace heapprof::cli {

void declare_suppression_options(Options* options, const char* group, SuppressionOptions* target);

}  // namespace heapprof::cli
