// cli/read/read_runs.h: reads profiles for comparison: with known leaks marked; only the sums for many profiles.
#pragma once

#include "cli/base/result.h"
#include "cli/model/analysis/suppressions.h"
#include "cli/model/compare/runs.h"
#include "cli/model/profile/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// FILE or FILE@SNAPSHOT; leaks are unknown at a snapshot.
Result<Profile> read_marked(const std::string& file, const Suppressions& suppressions);

// Reads one profile after the other: needs the memory of the largest.
Result<std::vector<RunTotals>> read_runs(const std::vector<std::string>& files, const Suppressions& suppressions);

// What to compare `current` with: the named files, and from folders those with its command.
Result<std::vector<RunTotals>> read_base_runs(const std::vector<std::string>& inputs, const RunTotals& current,
                                              const Suppressions& suppressions);

}  // namespace heapprof::cli
