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
    return plan.has_own_budget(budget, profile.run.command) ? Done{} : fit->add(profile, file);
  };
  const Result<std::vector<StartedProcess>> processes = find_started(folder, look);
  if (!processes) return processes.problem();
  std::vector<Started> cases;
  measured->unjudged.processes = unprofiled;
  for (const StartedProcess& process : *processes) {
    Result<std::vector<Budget>> own = plan.budgets_of_started(budget, process.command);
    if (!own) return own.problem();
    std::erase_if(*own, [](const Budget& one) { return one.limits.empty() && one.baseline.empty(); });
    if (own->empty()) ++measured->unjudged.processes;
    const bool is_own = plan.has_own_budget(budget, process.command);
    for (Budget& one : *own) cases.push_back({process, std::move(one), is_own});
  }
  return cases;
}

}  // namespace heapprof::cli
