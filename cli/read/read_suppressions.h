// cli/read/read_suppressions.h: the rules of a file, see model/suppressions.h.
#pragma once

#include "cli/base/result.h"
#include "cli/model/suppressions.h"

#include <string>

namespace heapprof::cli {

// Adds them to *rules. A file that is not there, larger than 1 MiB, or has a mistake in it is a problem, which names the line.
Result<Done> read_suppressions(const std::string& path, Suppressions* rules);

}  // namespace heapprof::cli
