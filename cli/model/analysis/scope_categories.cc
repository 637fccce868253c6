// cli/model/analysis/scope_categories.cc: all scopes are matched before the first one gets its category, because a
// path's text contains categories.
#include "cli/model/analysis/scope_categories.h"

#include "cli/base/glob.h"
#include "cli/base/saturating.h"
#include "cli/model/analysis/scope_paths.h"

#include <algorithm>

namespace heapprof::cli {

namespace {

bool fits(const Scopes& scopes, uint32_t index, const std::string& glob) {
  const Scope& scope = scopes.scopes[index];
  if (glob.find(": ") != std::string::npos && glob.find(" > ") == std::string::npos)
    return !scope.category.empty() && glob_matches(glob, name_of_scope(scope));
  if (!scope.category.empty()) return false;
  return glob_matches(glob,
                      glob.find(" > ") == std::string::npos ? name_of_scope(scope) : path_of_scope(scopes, index));
}

}  // namespace

void give_categories(const std::vector<CategoryRule>& rules, Scopes* scopes) {
  std::vector<const CategoryRule*> given(scopes->scopes.size());
  for (uint32_t i = 0; i < given.size(); ++i) {
    const auto is_for = [&](const CategoryRule& rule) {
      return std::any_of(rule.globs.begin(), rule.globs.end(),
                         [&](const std::string& glob) { return fits(*scopes, i, glob); });
    };
    const auto rule = std::find_if(rules.begin(), rules.end(), is_for);
    if (rule != rules.end()) given[i] = &*rule;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] != nullptr) scopes->scopes[i].category = given[i]->name;
  }
  sort_scopes(scopes);
}

std::vector<CategorySum> sum_categories(const Scopes& scopes, const std::vector<CategoryRule>& rules) {
  std::vector<CategorySum> sums;
  const auto sum_of = [&sums](const std::string& category) -> CategorySum& {
    const auto is_it = [&category](const CategorySum& sum) { return sum.category == category; };
    const auto at = std::find_if(sums.begin(), sums.end(), is_it);
    if (at != sums.end()) return *at;
    sums.push_back({category, 0, 0, {}});
    return sums.back();
  };
  for (const CategoryRule& rule : rules) sum_of(rule.name);
  for (const Scope& scope : scopes.scopes) {
    CategorySum& sum = sum_of(scope.category);
    ++sum.scopes;
    sum.own_time_ns = add_saturating(sum.own_time_ns, scope.own_time_ns);
    for (const ScopeMemory& memory : scope.memory) add_scope_memory(memory, &sum.memory);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const CategorySum& a, const CategorySum& b) {
    return a.own_time_ns != b.own_time_ns ? a.own_time_ns > b.own_time_ns : a.category < b.category;
  });
  return sums;
}

}  // namespace heapprof::cli
