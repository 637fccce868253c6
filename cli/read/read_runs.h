// cli/read/read_runs.h: reads profiles for a comparison, and marks known leaks. Of many profiles it keeps only the
// sums.
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

// Reads one profile after the other, so it needs no more memory than the largest one takes.
Result<std::vector<RunTotals>> read_runs(const std::vector<std::string>& files, const Suppressions& suppressions);

// The runs to compare `current` with: all named files; from named folders, the files with the same command as
// `current`.
Result<std::vector<RunTotals>> read_base_runs(const std::vector<std::string>& inputs, const RunTotals& current,
                                              const Suppressions& suppressions);

}  // namespace heapprof::cli
