// cli/commands/merge.h: `heapprof merge -o OUT FILE…`: several profiles as one.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText merge_text();

// The exit code: 0, 1 if OUT cannot be written, 2 for wrong usage and profiles that do not add up, 3 for one that
// cannot be read.
int merge_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
