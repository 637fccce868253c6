// cli/model/judge/budget_fit.h: checks that profiles have what a budget limits, because a limit that measures nothing
// is useless.
#pragma once

#include "cli/model/judge/budget.h"
#include "cli/model/profile/profile.h"

#include <set>
#include <string>
#include <vector>

namespace heapprof::cli {

// Checks the profiles of one program, or of all processes of one budget, together. A limit fits if at least one of the
// profiles has its subject.
class BudgetFit {
 public:
  explicit BudgetFit(const Budget& budget)
      : budget_(budget), is_subtree_there_(budget.subtrees.size()), is_scope_there_(budget.scopes.size()) {}

  // Returns a problem if the profile cannot be judged at all: its tool does not count a metric, or not all of its
  // scopes were counted. `file` is the profile's name in messages.
  Result<Done> add(const Profile& profile, const std::string& file);
  // Returns a problem if no profile has the device of a limit, or a scope that the budget names. Also returns one if
  // nothing would be judged: all limits are defaults for devices that no profile has, and there is no baseline. Less
  // serious findings are added to *warnings: a pattern that matches nothing, or a default for a device that does not
  // exist.
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
  std::string file_;                               // the file of the profile that was added last
  std::vector<std::vector<std::string>> nearest_;  // by scope of the budget: similar names
};

// Returns a problem if the baseline has no complete numbers of scopes, but the budget has scopes.
Result<Done> check_scopes_of_baseline(const Budget& budget, const Profile& baseline, const std::string& file);

// Checks the runs of one program; files[i] is the file of runs[i].
Result<Done> check_budget(const Budget& budget, const std::vector<Profile>& runs, const std::vector<std::string>& files,
                          std::vector<Problem>* warnings);
// The same for a single profile.
Result<Done> check_budget(const Budget& budget, const Profile& profile, const std::string& file,
                          std::vector<Problem>* warnings);

}  // namespace heapprof::cli
