// cli/commands/snapshot.h: `heapprof snapshot PID`: a valid profile of a running program, at once.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText snapshot_text();

// The exit code: 0, 1 if there is no snapshot, 2 for wrong usage.
int snapshot_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
