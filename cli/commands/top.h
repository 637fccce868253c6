// cli/commands/top.h: `heapprof top PID`: a running program, live.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText top_text();

// The exit code: 0, also where the program ended meanwhile; 1 if it cannot be watched, 2 for wrong usage, 128 + N if
// signal N ended it.
int top_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
