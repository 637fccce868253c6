// cli/commands/push.h: `heapprof push URL PID|FILE...`: profiles for a server that takes pprof.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText push_text();

// The exit code: 0; 1 if one was not taken, 2 for wrong usage, 3 for a profile that cannot be read.
int push_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
