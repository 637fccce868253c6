// cli/model/judge/budget_fit.cc: see budget_fit.h.
#include "cli/model/judge/budget_fit.h"

#include "cli/base/problems.h"
#include "cli/model/analysis/frame_pattern.h"
#include "cli/model/analysis/metrics.h"

#include <algorithm>

namespace heapprof::cli {

Result<Done> BudgetFit::add(const Profile& profile, const std::string& file) {
  for (const Device& device : profile.devices) {
    if (devices_.insert(device.name).second) device_names_ += (device_names_.empty() ? "" : ", ") + device.name;
  }
  for (const Limit& limit : budget_.limits) {
    const Metric metric = limit.subject.metric;
    if (!has_metric(profile, metric)) return metric_not_in_profile(file, std::string(metric_word(metric)));
    if (limit.subject.subtree != Subject::kWhole && metric == Metric::kPeak && !profile.merged.empty())
      return limit_not_measured(limit.at, file, "the sites' peaks of a merged profile are of different moments");
  }
  const FrameMatcher frames(profile);
  for (size_t i = 0; i < budget_.subtrees.size(); ++i) {
    if (is_subtree_there_[i]) continue;
    const std::vector<bool> stacks = frames.stacks_with(budget_.subtrees[i].frames);
    is_subtree_there_[i] = std::any_of(stacks.begin(), stacks.end(), [](bool fits) { return fits; });
  }
  return Done{};
}

Result<Done> BudgetFit::finish(std::vector<Problem>* warnings) const {
  std::vector<bool> expects_some(budget_.subtrees.size());
  for (const Limit& limit : budget_.limits) {
    const Subject& subject = limit.subject;
    const bool is_there = devices_.count(subject.device) > 0;
    if (!is_there && !limit.is_default) return limit_for_unknown_device(limit.at, subject.device, device_names_);
    if (!is_there) warnings->push_back(limit_not_needed(limit.at, subject.device, device_names_));
    // A limit of nothing at all is kept best by what never appears.
    if (subject.subtree != Subject::kWhole && (limit.expect || limit.most.value_or(1) > 0))
      expects_some[subject.subtree] = true;
  }
  for (size_t i = 0; i < budget_.subtrees.size(); ++i) {
    if (expects_some[i] && !is_subtree_there_[i])
      warnings->push_back(site_matches_nothing(budget_.subtrees[i].at, budget_.subtrees[i].name));
  }
  return Done{};
}

Result<Done> check_budget(const Budget& budget, const Profile& profile, const std::string& file,
                          std::vector<Problem>* warnings) {
  BudgetFit fit(budget);
  const Result<Done> fits = fit.add(profile, file);
  return fits ? fit.finish(warnings) : fits;
}

}  // namespace heapprof::cli
