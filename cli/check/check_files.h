// cli/check/check_files.h: what `heapprof check` writes besides its outputs: kept profiles, baselines, raised limits.
#pragma once

#include "cli/base/result.h"
#include "cli/model/judge/budget.h"
#include "cli/model/judge/verdict.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapprof::cli {

// The copy is there whole or not at all.
Result<Done> copy_file(const std::string& from, const std::string& to);
// Copies the profile, and makes the folders above the baseline. Does nothing if both are one file.
Result<Done> replace_baseline(const std::string& profile, const std::string& baseline);
// Raises limits in the file itself and keeps its mode, but only if nobody has written to it while programs ran. Returns
// how many limits were raised. The verdicts are judged anew by the limits that were written.
Result<size_t> update_budget_file(const BudgetFile& file, std::vector<Verdict>* verdicts);

}  // namespace heapprof::cli
