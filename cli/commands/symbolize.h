// cli/commands/symbolize.h: `heapprof symbolize FILE`: names for a profile that was written without them.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText symbolize_text();

// The exit code: 0, 1 if the profile cannot be written, 2 for wrong usage, 3 for one that cannot be read.
int symbolize_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
