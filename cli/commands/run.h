// cli/commands/run.h: the flags of `heapprof run`.
#pragma once

#include "cli/flags/options.h"
#include "cli/run/run.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// The declarations, bound to `target`, which must outlive them.
void declare_run_options(Options* options, RunOptions* target);
CommandText run_text();

// Parses, and runs or shows help.
int run_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
