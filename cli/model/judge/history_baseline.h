// cli/model/judge/history_baseline.h: the runs of a history as a baseline: the median of each number.
//
// Guarantees
//  - Only runs of the same command count, the last kBaselineRuns that have the number; a run that was over its limits
//    is none of them: what is wrong does not become usual by being repeated.
// Not provided: numbers of sites, which a history does not hold.
#pragma once

#include "cli/model/judge/history.h"
#include "cli/model/judge/verdict.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr size_t kBaselineRuns = 20;

// Those of the command: the same arguments, a program of the same file name; of several names those of `name` alone. An
// entry without a command goes by its name.
std::vector<HistoryEntry> runs_of_command(const std::vector<HistoryEntry>& entries, const std::string& name,
                                          const std::vector<std::string>& command);

// How many runs the median of the first device is of.
size_t count_baseline_runs(const std::vector<HistoryEntry>& runs);

// Puts the medians into the evidence. Subjects that have neither a median nor a limit are taken out of it.
void compare_with_runs(const Budget& budget, const std::vector<HistoryEntry>& runs, Evidence* evidence);

}  // namespace heapprof::cli
