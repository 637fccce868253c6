// cli/commands/pause.h: `heapprof pause`, `resume` and `mark`: what a run is told while it goes on.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText pause_text();
CommandText resume_text();
CommandText mark_text();
int pause_main(const std::vector<std::string>& arguments);
int resume_main(const std::vector<std::string>& arguments);
int mark_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
