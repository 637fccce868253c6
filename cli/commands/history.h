// cli/commands/history.h: `heapprof history FILE.jsonl`: what runs took over time; --add puts profiles into it.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText history_text();

// The exit code: 0, 1 if nothing can be added, 2 for wrong usage, 3 for a file that cannot be read.
int history_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
