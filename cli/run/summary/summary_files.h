// cli/run/summary/summary_files.h: the last lines of a summary: the profiles' files, and the command to call next.
#pragma once

#include "cli/run/summary/summary.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

// The file of the profile that the tables show.
const std::string& shown_file(const SummaryInput& input);

// Lines with earlier images, another process's profile, the program's own profile, and "next heapprof report FILE".
// File names can be pasted into a shell.
std::string saved_lines(const SummaryInput& input, bool utf8, size_t columns);

}  // namespace heapprof::cli
