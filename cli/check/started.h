// cli/check/started.h: the processes that a checked program started, each with its budget.
#pragma once

#include "cli/check/check_plan.h"
#include "cli/check/program_profiles.h"
#include "cli/model/judge/budget_fit.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct Started {
  StartedProcess process;
  Budget budget;
  bool is_own = false;  // the budget is that of its command, not of the program that started it
};

// Reads the profiles in the folder. Processes without any limit, and those that heapprof could not profile, are counted
// in measured->unjudged. *fit gets all profiles to which the program's own budget applies.
Result<std::vector<Started>> find_cases(const CheckPlan& plan, const Budget& budget, const std::string& folder,
                                        ProgramProfiles* measured, BudgetFit* fit);

}  // namespace heapprof::cli
