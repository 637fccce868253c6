// cli/model/judge/budget_fit.h: whether profiles can answer what a budget asks: it is of no use to keep a limit that
// measures nothing.
#pragma once

#include "cli/model/judge/budget.h"
#include "cli/model/profile/profile.h"

#include <set>
#include <string>
#include <vector>

namespace heapprof::cli {

// Of one program, or of all the processes that one budget is for: it fits if one of them has what a limit is about.
class BudgetFit {
 public:
  explicit BudgetFit(const Budget& budget) : budget_(budget), is_subtree_there_(budget.subtrees.size()) {}

  // A problem if the profile cannot answer at all: its tool does not count a metric. `file` is what messages call it.
  Result<Done> add(const Profile& profile, const std::string& file);
  // A problem if no profile has the device of a limit. What is only odd is added to *warnings: a pattern that matches
  // nothing, a default for a device that there is not.
  Result<Done> finish(std::vector<Problem>* warnings) const;

 private:
  const Budget& budget_;
  std::set<std::string> devices_;
  std::string device_names_;  // as they came
  std::vector<bool> is_subtree_there_;
};

// Of a single profile.
Result<Done> check_budget(const Budget& budget, const Profile& profile, const std::string& file,
                          std::vector<Problem>* warnings);

}  // namespace heapprof::cli
