// cli/check/check_plan.h: which budget applies to which program, combined with flags and defaults.
#pragma once

#include "cli/base/result.h"
#include "cli/check/check.h"

#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

class CheckPlan {
 public:
  // Reads the budget's file, if one is named.
  static Result<CheckPlan> make(const CheckOptions& options);

  const std::optional<BudgetFile>& file() const { return file_; }
  // The budgets to run if neither a program nor a profile is named; each has a command.
  Result<std::vector<Budget>> budgets_to_run() const;
  // The budgets for a command line, one or more; `profile`, for messages: the file of the profile with that command
  // line, or the program.
  Result<std::vector<Budget>> budgets_for(const std::vector<std::string>& command, const std::string& profile) const;
  // The budgets for a process that the program of `parent` started: those with the process's command. If no budget has
  // that command, or if it is also the parent's (a forked child), a copy of `parent` is added last. The copy has a name
  // of its own and no baseline, because the parent's baseline is of another program.
  Result<std::vector<Budget>> budgets_of_started(const Budget& parent, const std::vector<std::string>& command) const;
  // True if other budgets judge such a process, and `parent` does not.
  bool is_left_to_others(const Budget& parent, const std::vector<std::string>& command) const;

 private:
  explicit CheckPlan(const CheckOptions& options) : options_(options) {}
  Result<Budget> complete(Budget budget, const std::string& what) const;

  const CheckOptions& options_;
  std::optional<BudgetFile> file_;
  std::vector<const Budget*> chosen_;  // by --name
};

// True for a file of runs; else the baseline is a profile, or a folder of profiles.
bool is_history(const std::string& baseline);
// The baseline's file: in a folder, the one with the budget's name.
std::string baseline_path(const Budget& budget);
// The name in a form that is valid as a file name. An altered name ends in a hash of the original: different names stay
// different.
std::string file_word(const std::string& name);

}  // namespace heapprof::cli
