// cli/model/judge/budget_fit.cc: if a profile lacks the subject of a limit, there may be a good reason or a mistake.
// Which of them is likelier depends on the kind of the subject.
//
// If a function is in no stack, it may have been inlined, or was not called this time, so there is a warning. If a
// device or scope is missing, its name is more likely mistyped, and its limit would always be met, so there is an
// error. To require that a scope is absent, a budget sets its count to 0.
#include "cli/model/judge/budget_fit.h"

#include "cli/base/problems.h"
#include "cli/base/units.h"
#include "cli/model/analysis/frame_pattern.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/judge/scope_numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr size_t kNearest = 3;  // how many similar names are suggested for a missing one

// Returns a problem if scopes were not counted, because then all numbers of scopes are too small.
Result<Done> check_counted(const Budget& budget, const Profile& profile, const std::string& file) {
  const Scopes& scopes = profile.scopes;
  if (budget.scopes.empty()) return Done{};
  if (scopes.lost != 0) return scopes_not_whole(budget.scopes[0].at, file, format_counted(scopes.lost, "begin"));
  if (scopes.lost_names != 0)
    return scopes_not_whole(budget.scopes[0].at, file, format_counted(scopes.lost_names, "name"));
  return Done{};
}

}  // namespace

void BudgetFit::add_scopes(const Profile& profile) {
  if (budget_.scopes.empty()) return;
  const ScopeNumbers scopes(profile);
  has_scopes_ = has_scopes_ || !scopes.empty();
  has_device_calls_ = has_device_calls_ || profile.api.kernel_launches != 0 || !profile.api.calls.empty();
  nearest_.resize(budget_.scopes.size());
  for (size_t i = 0; i < budget_.scopes.size(); ++i) {
    const std::string& pattern = budget_.scopes[i].pattern;
    is_scope_there_[i] = is_scope_there_[i] || !scopes.matching(pattern).empty();
    if (!is_scope_there_[i] && nearest_[i].empty()) nearest_[i] = scopes.nearest(pattern, kNearest);
  }
}

Result<Done> BudgetFit::finish_scopes() const {
  for (size_t i = 0; i < budget_.scopes.size(); ++i) {
    const ScopeBudget& scope = budget_.scopes[i];
    if (!has_scopes_) return scopes_missing(scope.at, file_);
    if (is_scope_there_[i] || must_not_be_there(budget_, i)) continue;
    std::string names;
    for (const std::string& name : nearest_[i]) names += (names.empty() ? "'" : ", '") + name + "'";
    return scope_matches_nothing(scope.at, scope.pattern, names);
  }
  for (const Limit& limit : budget_.limits) {
    const std::optional<ScopeSubject>& scope = limit.subject.scope;
    const bool is_of_device_api =
        scope && (scope->metric == ScopeMetric::kCalls || scope->metric == ScopeMetric::kKernelLaunches);
    if (is_of_device_api && !has_device_calls_) return device_not_called(limit.at, scope_word(*scope));
  }
  return Done{};
}

Result<Done> check_scopes_of_baseline(const Budget& budget, const Profile& baseline, const std::string& file) {
  if (budget.scopes.empty()) return Done{};
  if (baseline.scopes.scopes.empty()) return scopes_missing(budget.scopes[0].at, file);
  return check_counted(budget, baseline, file);
}

Result<Done> BudgetFit::add(const Profile& profile, const std::string& file) {
  for (const Device& device : profile.devices) {
    if (devices_.insert(device.name).second) device_names_ += (device_names_.empty() ? "" : ", ") + device.name;
  }
  for (const Limit& limit : budget_.limits) {
    if (limit.subject.scope) continue;
    const Metric metric = limit.subject.metric;
    if (!has_metric(profile, metric)) return metric_not_in_profile(file, std::string(metric_word(metric)));
    if (limit.subject.subtree != Subject::kWhole && metric == Metric::kPeak && !profile.merged.empty())
      return limit_not_measured(limit.at, file, "the sites' peaks of a merged profile are of different moments");
  }
  if (const Result<Done> counted = check_counted(budget_, profile, file); !counted) return counted;
  file_ = file;
  add_scopes(profile);
  const FrameMatcher frames(profile);
  for (size_t i = 0; i < budget_.subtrees.size(); ++i) {
    if (is_subtree_there_[i]) continue;
    const std::vector<bool> stacks = frames.stacks_with(budget_.subtrees[i].frames);
    is_subtree_there_[i] = std::any_of(stacks.begin(), stacks.end(), [](bool fits) { return fits; });
  }
  return Done{};
}

Result<Done> BudgetFit::finish(std::vector<Problem>* warnings) const {
  if (const Result<Done> fits = finish_scopes(); !fits) return fits;
  std::vector<bool> expects_some(budget_.subtrees.size());
  bool is_judged = budget_.limits.empty() || !budget_.baseline.empty() || budget_.contract;
  for (const Limit& limit : budget_.limits) {
    const Subject& subject = limit.subject;
    const bool is_there = devices_.count(subject.device) > 0;
    if (!is_there && !limit.is_default) return limit_for_unknown_device(limit.at, subject.device, device_names_);
    if (!is_there) warnings->push_back(limit_not_needed(limit.at, subject.device, device_names_));
    is_judged = is_judged || is_there;
    // A limit of 0 expects that the function never appears.
    if (subject.subtree != Subject::kWhole && (limit.expect || limit.most.value_or(1) > 0))
      expects_some[subject.subtree] = true;
  }
  if (!is_judged) return no_limits(fmt::format("the devices that {} used: {}", budget_.name, device_names_));
  for (size_t i = 0; i < budget_.subtrees.size(); ++i) {
    if (expects_some[i] && !is_subtree_there_[i])
      warnings->push_back(site_matches_nothing(budget_.subtrees[i].at, budget_.subtrees[i].name));
  }
  return Done{};
}

Result<Done> check_budget(const Budget& budget, const std::vector<Profile>& runs, const std::vector<std::string>& files,
                          std::vector<Problem>* warnings) {
  BudgetFit fit(budget);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (const Result<Done> added = fit.add(runs[i], files[i]); !added) return added;
  }
  return fit.finish(warnings);
}

Result<Done> check_budget(const Budget& budget, const Profile& profile, const std::string& file,
                          std::vector<Problem>* warnings) {
  BudgetFit fit(budget);
  const Result<Done> fits = fit.add(profile, file);
  return fits ? fit.finish(warnings) : fits;
}

}  // namespace heapprof::cli
