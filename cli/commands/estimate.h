// cli/commands/estimate.h: `heapprof estimate tensor|attention|kv-cache|weights`: how much memory something takes, and
// whether it fits.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText estimate_text();

// The exit code: 0, 1 if it does not fit, 2 for wrong usage, 3 if the device cannot be measured.
int estimate_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
