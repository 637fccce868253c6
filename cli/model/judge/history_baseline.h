// cli/model/judge/history_baseline.h: the runs of a history as a baseline: the median of each number.
//
// Guarantees
//  - Only runs of the same command count, and of these the last kBaselineRuns that have the number. A run over its
//    limits does not count, so that a regression cannot become the baseline by repetition.
// Not provided: numbers of sites, which a history does not have.
#pragma once

#include "cli/model/judge/history.h"
#include "cli/model/judge/verdict.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr size_t kBaselineRuns = 20;

// The entries of the command: with the same arguments, and a program with the same file name. If at least one of them
// is called `name`, only those called `name` are returned. An entry without a command is matched by its name.
std::vector<HistoryEntry> runs_of_command(const std::vector<HistoryEntry>& entries, const std::string& name,
                                          const std::vector<std::string>& command);

// How many runs the median is computed from, for the device of the last entry.
size_t count_baseline_runs(const std::vector<HistoryEntry>& runs);

// Puts the medians into the evidence. Subjects with neither a median nor a limit are removed from it.
void compare_with_runs(const Budget& budget, const std::vector<HistoryEntry>& runs, Evidence* evidence);

}  // namespace heapprof::cli
