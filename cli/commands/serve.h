// cli/commands/serve.h: `heapprof serve PID...`: profiles of running programs over HTTP.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText serve_command_text();

// The exit code: 0 when all processes that were named have ended, 1 if it cannot serve, 2 for wrong usage, 128 + N if
// signal N ended it.
int serve_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
