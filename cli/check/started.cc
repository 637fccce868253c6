// cli/check/started.cc: see started.h.
#include "cli/check/started.h"

#include <utility>

namespace heapprof::cli {

Result<std::vector<Started>> find_cases(const CheckPlan& plan, const Budget& budget, const std::string& folder,
                                        ProgramProfiles* measured, BudgetFit* fit) {
  uint64_t unprofiled = 0;
  for (const Profile& run : measured->runs) {
    unprofiled += count_unprofiled(run).processes;
    if (const Result<Done> added = fit->add(run, budget.name); !added) return added.problem();
  }
  const auto look = [&](const Profile& profile, const std::string& file) -> Result<Done> {
    unprofiled += count_unprofiled(profile).processes;
    return plan.is_left_to_others(budget, profile.run.command) ? Done{} : fit->add(profile, file);
  };
  const Result<std::vector<StartedProcess>> processes = find_started(folder, look);
  if (!processes) return processes.problem();
  std::vector<Started> cases;
  measured->unjudged.processes = unprofiled;
  for (const StartedProcess& process : *processes) {
    Result<std::vector<Budget>> own = plan.budgets_of_started(budget, process.command);
    if (!own) return own.problem();
    const bool is_left = plan.is_left_to_others(budget, process.command);
    bool is_judged = false;
    for (Budget& one : *own) {
      if (one.limits.empty() && one.baseline.empty()) continue;
      is_judged = true;
      cases.push_back({process, std::move(one), is_left || &one != &own->back()});
    }
    if (!is_judged) ++measured->unjudged.processes;
  }
  return cases;
}

}  // namespace heapprof::cli
