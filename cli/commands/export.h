// cli/commands/export.h: `heapprof export --format FORMAT FILE`: a profile in the formats of other tools.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText export_text();

// The exit code: 0, 1 if it cannot be written, 2 for wrong usage, 3 for a profile that cannot be read.
int export_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
