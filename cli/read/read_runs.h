// cli/read/read_runs.h: profiles for comparing: with their known leaks marked, and of many only the sums.
#pragma once

#include "cli/base/result.h"
#include "cli/model/analysis/suppressions.h"
#include "cli/model/compare/runs.h"
#include "cli/model/profile/profile.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// FILE or FILE@SNAPSHOT; nothing is known of leaks at a snapshot.
Result<Profile> read_marked(const std::string& file, const Suppressions& suppressions);

// One profile after the other: memory is that of the largest.
Result<std::vector<RunTotals>> read_runs(const std::vector<std::string>& files, const Suppressions& suppressions);

// What to compare `current` with: the files that are named, and of folders those of its command.
Result<std::vector<RunTotals>> read_base_runs(const std::vector<std::string>& inputs, const RunTotals& current,
                                              const Suppressions& suppressions);

}  // namespace heapprof::cli
