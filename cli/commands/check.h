// cli/commands/check.h: `heapprof check`: fails a build in continuous integration if a limit, a budget or a baseline is
// exceeded.
#pragma once

#include "cli/check/check.h"
#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText check_text();

// The flags as typed; they are interpreted once all are known.
struct CheckFlags {
  CheckOptions options;
  std::vector<std::string> limits[5];  // peak, leaked, total, allocations, temporary
  std::string tolerance;
  uint64_t slack_bytes = UINT64_MAX;  // not given
};
void declare_check_options(Options* options, CheckFlags* target);

// The exit code: 0 within all limits, 1 over a limit, 2 wrong usage, 3 a profile is incomplete or unreadable, 4 the
// program failed.
int check_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
