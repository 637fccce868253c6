// cli/model/judge/budget_fit.h: whether profiles have what a budget limits: keeping a limit that measures nothing is
// useless.
#pragma once

#include "cli/model/judge/budget.h"
#include "cli/model/profile/profile.h"

#include <set>
#include <string>
#include <vector>

namespace heapprof::cli {

// For one program, or all processes of one budget: the budget fits if one of them has what a limit is about.
class BudgetFit {
 public:
  explicit BudgetFit(const Budget& budget)
      : budget_(budget), is_subtree_there_(budget.subtrees.size()), is_scope_there_(budget.scopes.size()) {}

  // A problem if the profile cannot answer at all: its tool does not count a metric, or its scopes were not all
  // counted. `file` is its name in messages.
  Result<Done> add(const Profile& profile, const std::string& file);
  // A problem if no profile has the device of a limit, or a scope that the budget names, or if all limits are defaults
  // for devices that no profile has and there is no baseline: then nothing would be judged. Less serious findings are
  // added to *warnings: a pattern that matches nothing, a default for a device that does not exist.
  Result<Done> finish(std::vector<Problem>* warnings) const;

 private:
  void add_scopes(const Profile& profile);
  Result<Done> finish_scopes() const;

  const Budget& budget_;
  std::set<std::string> devices_;
  std::string device_names_;  // in the order of profiles
  std::vector<bool> is_subtree_there_;
  std::vector<bool> is_scope_there_;
  bool has_scopes_ = false;
  bool has_device_calls_ = false;
  std::string file_;                               // of the profile that was added last
  std::vector<std::vector<std::string>> nearest_;  // by scope of the budget: similar names
};

// A problem if the baseline does not know what the budget's scopes took.
Result<Done> check_scopes_of_baseline(const Budget& budget, const Profile& baseline, const std::string& file);

// For the runs of one program, each with its file.
Result<Done> check_budget(const Budget& budget, const std::vector<Profile>& runs, const std::vector<std::string>& files,
                          std::vector<Problem>* warnings);
// For a single profile.
Result<Done> check_budget(const Budget& budget, const Profile& profile, const std::string& file,
                          std::vector<Problem>* warnings);

}  // namespace heapprof::cli
