// cli/check/check_plan.cc: a limit may come from the budget, its defaults, a flag or the baseline. This file decides
// which has precedence.
//
// A flag overrides the budget, the budget overrides [defaults]. A flag replaces the limit of the same metric and
// device, whether that was a share or a number, and leaves the others.
//
// Missing and contradictory values are found here, before the first program runs: a check may take an hour.
#include "cli/check/check_plan.h"

#include "cli/base/glob.h"
#include "cli/base/hash.h"
#include "cli/base/problems.h"
#include "cli/model/profile/program_name.h"
#include "cli/read/read_budget.h"
#include "cli/read/read_contracts.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace heapprof::cli {
namespace {

// Refuses flags together with contracts. Contracts are complete, and a flag that is meant for one program would apply
// to all of them.
Result<Done> check_alone(const CheckOptions& options) {
  if (!options.program.empty()) return contracts_stand_alone(command_text(options.program));
  if (!options.profiles.empty()) return contracts_stand_alone(options.profiles[0]);
  if (!options.budget.empty()) return contracts_stand_alone("--budget");
  if (!options.baseline.empty()) return contracts_stand_alone("--baseline");
  if (!options.limits.empty()) return contracts_stand_alone(options.limits[0].at.file);
  if (!options.scopes.empty()) return contracts_stand_alone("--scope");
  if (options.runs > 0) return contracts_stand_alone("--runs");
  if (options.processes) return contracts_stand_alone("--processes");
  if (options.tolerance_share) return contracts_stand_alone("--tolerance");
  if (options.slack_bytes) return contracts_stand_alone("--slack");
  if (options.update_budget) return contracts_stand_alone("--update-budget");
  if (options.update_baseline) return contracts_stand_alone("--update-baseline");
  return Done{};
}

// A scope without a limit is only compared with the baseline. So it needs one that has scopes, and a history has none.
Result<Done> check_scopes(const Budget& budget) {
  for (size_t i = 0; i < budget.scopes.size(); ++i) {
    const ScopeBudget& scope = budget.scopes[i];
    if (has_limit_of_scope(budget, i)) continue;
    if (budget.baseline.empty() && scope.at.line == 0) return flag_needs_another(scope.at.file, "--baseline FILE");
    if (budget.baseline.empty())
      return budget_broken(scope.at, fmt::format("no limit is set for '{}', and there is no baseline", scope.pattern));
    if (is_history(budget.baseline))
      return budget_broken(scope.at,
                           fmt::format("no limit is set for '{}', and a history holds no scopes", scope.pattern));
  }
  return Done{};
}

}  // namespace

bool is_history(const std::string& baseline) { return baseline.ends_with(".jsonl"); }

std::string file_word(const std::string& name) {
  constexpr size_t kLongest = 100;
  std::string word;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '_' || (c == '.' && !word.empty());
    word += is_plain ? c : '_';
  }
  if (word == name && word.size() <= kLongest && !word.empty()) return word;
  return fmt::format("{}-{}", word.substr(0, kLongest), hash_digits(name).substr(0, 8));
}

std::string baseline_path(const Budget& budget) {
  if (budget.baseline.empty()) return "";
  std::error_code error;
  const std::filesystem::path path = budget.baseline;
  if (!budget.baseline.ends_with('/') && !std::filesystem::is_directory(path, error)) return budget.baseline;
  return (path / (file_word(budget.name) + ".json")).string();
}

Result<CheckPlan> CheckPlan::make(const CheckOptions& options) {
  CheckPlan plan(options);
  if (!options.contracts.empty()) {
    if (const Result<Done> alone = check_alone(options); !alone) return alone.problem();
  } else if (options.budget.empty()) {
    if (!options.name.empty()) return flag_needs_another("--name", "--budget FILE");
    if (options.update_budget) return flag_needs_another("--update-budget", "--budget FILE");
    return plan;
  }
  Result<BudgetFile> file = options.contracts.empty() ? read_budget(options.budget) : read_contracts(options.contracts);
  if (!file) return file.problem();
  plan.file_ = std::move(*file);
  std::string names;
  for (const Budget& budget : plan.file_->budgets) {
    names += (names.empty() ? "" : ", ") + budget.name;
    if (options.name.empty() || glob_matches(options.name, budget.name)) plan.chosen_.push_back(&budget);
  }
  if (!options.name.empty() && plan.chosen_.empty() && !options.contracts.empty())
    return no_contract_named(options.name, names);
  if (!options.name.empty() && plan.chosen_.empty())
    return no_budget_named(options.name, names.empty() ? "none" : names);
  return plan;
}

Result<Budget> CheckPlan::complete(Budget budget, const std::string& what) const {
  if (file_) budget = with_defaults(file_->defaults, std::move(budget));
  for (const Limit& limit : options_.limits) {
    // The flag's metric and device have one limit, whether it is a share or a number.
    std::erase_if(budget.limits, [&](const Limit& known) {
      return known.subject.is_whole() && known.subject.metric == limit.subject.metric &&
             known.subject.device == limit.subject.device;
    });
    budget.limits.push_back(limit);
  }
  if (!options_.baseline.empty()) budget.baseline = options_.baseline;
  if (options_.tolerance_share) budget.tolerance_share = options_.tolerance_share;
  if (options_.slack_bytes) budget.slack_bytes = options_.slack_bytes;
  if (options_.runs > 0) budget.runs = options_.runs;
  constexpr uint64_t kBaselineRuns = 3;  // enough runs to see how far they differ
  if (options_.update_baseline && !budget.runs) budget.runs = kBaselineRuns;
  if (options_.processes) budget.processes = options_.processes;
  if (options_.update_baseline && budget.baseline.empty())
    return flag_needs_another("--update-baseline", "--baseline FILE");
  for (const std::string& pattern : options_.scopes) budget.scopes.push_back({pattern, {"--scope", 0}});
  if (const Result<Done> scopes = check_scopes(budget); !scopes) return scopes.problem();
  if (budget.limits.empty() && budget.baseline.empty()) return no_limits(what);
  return budget;
}

Result<std::vector<Budget>> CheckPlan::budgets_to_run() const {
  std::vector<Budget> budgets;
  for (const Budget* budget : chosen_) {
    if (budget->contract) {
      budgets.push_back(*budget);
      continue;
    }
    if (budget->command.empty()) return budget_without_command(budget->at, budget->name);
    Result<Budget> complete_one = complete(*budget, budget->name);
    if (!complete_one) return complete_one.problem();
    budgets.push_back(std::move(*complete_one));
  }
  if (budgets.empty()) return nothing_to_check();
  return budgets;
}

Result<std::vector<Budget>> CheckPlan::budgets_for(const std::vector<std::string>& command,
                                                   const std::string& profile) const {
  const bool is_named = !options_.name.empty() && chosen_.size() == 1;
  std::vector<Budget> budgets;
  for (const Budget* budget : chosen_) {
    if (!is_named && !is_for_command(*budget, command)) continue;
    Result<Budget> completed = complete(*budget, profile);
    if (!completed) return completed.problem();
    budgets.push_back(std::move(*completed));
  }
  if (!budgets.empty()) return budgets;
  Budget only_defaults;
  only_defaults.name = program_name(command);
  if (only_defaults.name.empty()) only_defaults.name = "program";
  only_defaults.at = {file_ ? file_->path : profile, 0};
  Result<Budget> completed = complete(std::move(only_defaults), profile);
  if (completed && file_ && !chosen_.empty())
    print_problem(only_defaults_apply(command_text(command), file_->path), options_.color);
  if (!completed && file_ && completed.problem().id == "HP141")
    return no_budget_for(profile, command_text(command), file_->path);
  if (!completed) return completed.problem();
  budgets.push_back(std::move(*completed));
  return budgets;
}

bool CheckPlan::is_left_to_others(const Budget& parent, const std::vector<std::string>& command) const {
  return file_ && !is_for_command(parent, command) &&
         std::any_of(file_->budgets.begin(), file_->budgets.end(), [&](const Budget& budget) {
           return is_for_command(budget, command) && budget.name != parent.name;
         });
}

Result<std::vector<Budget>> CheckPlan::budgets_of_started(const Budget& parent,
                                                          const std::vector<std::string>& command) const {
  std::vector<Budget> budgets;
  for (const Budget& own : file_ ? file_->budgets : std::vector<Budget>()) {
    if (!is_for_command(own, command) || own.name == parent.name) continue;
    Result<Budget> completed = complete(own, own.name);
    if (!completed) return completed.problem();
    completed->baseline = own.baseline;  // the baseline of the flag is only for the program itself
    budgets.push_back(std::move(*completed));
  }
  if (is_left_to_others(parent, command)) return budgets;
  Budget budget = parent;
  const std::string program = program_name(command);
  budget.name += "." + (program.empty() ? "process" : program);
  budget.baseline.clear();
  budgets.push_back(std::move(budget));
  return budgets;
}

}  // namespace heapprof::cli
