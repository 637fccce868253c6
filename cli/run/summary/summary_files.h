// cli/run/summary/summary_files.h: the last lines of a summary: the profiles, and the command to call next.
#pragma once

#include "cli/run/summary/summary.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

// The profile that the tables show.
const std::string& shown_file(const SummaryInput& input);

// Images, another process's profile, the program's own, and "next heapprof report FILE"; names can be pasted.
std::string saved_lines(const SummaryInput& input, bool utf8, size_t columns);

}  // namespace heapprof::cli
