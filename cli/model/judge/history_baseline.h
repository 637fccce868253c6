// cli/model/judge/history_baseline.h: the runs of a history as a baseline: the median of each number.
//
// Guarantees
//  - Only runs of the same command count, the last kBaselineRuns that have the number. A run over its limits does not
//    count: a regression must not become the baseline by repetition.
// Not provided: numbers of sites, which a history does not have.
#pragma once

#include "cli/model/judge/history.h"
#include "cli/model/judge/verdict.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr size_t kBaselineRuns = 20;

// Those of the command: the same arguments, a program of the same file name; if they have several names, only those of
// `name`. An entry without a command is matched by its name.
std::vector<HistoryEntry> runs_of_command(const std::vector<HistoryEntry>& entries, const std::string& name,
                                          const std::vector<std::string>& command);

// How many runs the median of the first device comes from.
size_t count_baseline_runs(const std::vector<HistoryEntry>& runs);

// Puts the medians into the evidence. Subjects with neither a median nor a limit are removed from it.
void compare_with_runs(const Budget& budget, const std::vector<HistoryEntry>& runs, Evidence* evidence);

}  // namespace heapprof::cli
