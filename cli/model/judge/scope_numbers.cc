// cli/model/judge/scope_numbers.cc: a budget's pattern is matched against the text of scopes' paths, but a scope is
// identified by its path.
//
// Users write patterns from a report or a diff, so a pattern is matched against the text shown there. Two scopes may
// read alike ("a > b" may be one name): each is judged separately, because their paths differ.
//
// Averages are computed here, once for each run of the program, so that several runs give a median of averages, not an
// average of medians.
#include "cli/model/judge/scope_numbers.h"

#include "cli/base/glob.h"
#include "cli/base/saturating.h"
#include "cli/base/text.h"

#include <algorithm>
#include <set>

namespace heapprof::cli {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr size_t kMostComparedBytes = 64;  // bytes of a name that are compared for similarity

// The average per begin of the scope, rounded up.
uint64_t average(uint64_t value, uint64_t begun, uint64_t unit) {
  if (begun == 0) return 0;
  return static_cast<uint64_t>(std::min<Wide>((Wide{value} * unit + begun - 1) / begun, UINT64_MAX));
}

uint64_t memory_number(const ScopeMemory& memory, ScopeMetric metric) {
  switch (metric) {
    case ScopeMetric::kPeak: return memory.peak_inside_bytes;
    case ScopeMetric::kKept: return memory.allocated_bytes - std::min(memory.allocated_bytes, memory.freed_bytes);
    case ScopeMetric::kAllocated: return memory.allocated_bytes;
    case ScopeMetric::kBlocks: return memory.allocated_blocks;
    case ScopeMetric::kCount:
    case ScopeMetric::kKernelLaunches:
    case ScopeMetric::kCalls: break;
  }
  return 0;
}

// Sorted in the order in which numbers are shown, because TOML tables have no order.
std::vector<Subject> limits_of_scope(const Budget& budget, size_t scope) {
  std::vector<Subject> limits;
  for (const Limit& limit : budget.limits) {
    if (limit.subject.scope && limit.subject.scope->scope == scope) limits.push_back(limit.subject);
  }
  std::stable_sort(limits.begin(), limits.end(), [](const Subject& a, const Subject& b) {
    return std::pair(a.scope->metric, a.scope->is_per_run) < std::pair(b.scope->metric, b.scope->is_per_run);
  });
  return limits;
}

// Adds the subjects that *subjects does not have yet.
void add_new(std::vector<Subject>&& more, std::vector<Subject>* subjects) {
  for (Subject& subject : more) {
    if (std::find(subjects->begin(), subjects->end(), subject) == subjects->end())
      subjects->push_back(std::move(subject));
  }
}

}  // namespace

ScopeNumbers::ScopeNumbers(const Profile& profile) : scopes_(profile.scopes) {
  sort_scopes(&scopes_);  // a file's scopes may be in any order, and repeated
  memory_ = memory_with_inner(scopes_);
  calls_ = calls_with_inner(scopes_);
  launches_ = launches_with_inner(scopes_);
  for (uint32_t i = 0; i < scopes_.scopes.size(); ++i) {
    const Scope& scope = scopes_.scopes[i];
    places_[{scope.parent, {scope.category, scope.name}}] = i;
    levels_.push_back(scope.parent == 0 ? 1 : levels_[scope.parent - 1] + 1);
  }
}

ScopePath ScopeNumbers::path_of(size_t place) const {
  ScopePath path;
  for (size_t at = place + 1; at != 0; at = scopes_.scopes[at - 1].parent)
    path.push_back({scopes_.scopes[at - 1].category, scopes_.scopes[at - 1].name});
  std::reverse(path.begin(), path.end());
  return path;
}

const Scope* ScopeNumbers::find(const ScopePath& path, size_t* place) const {
  uint32_t parent = 0;
  for (const ScopeName& name : path) {
    const auto found = places_.find({parent, name});
    if (found == places_.end()) return nullptr;
    parent = found->second + 1;
  }
  if (parent == 0) return nullptr;
  *place = parent - 1;
  return &scopes_.scopes[*place];
}

std::vector<ScopePath> ScopeNumbers::matching(std::string_view pattern) const {
  const std::string shown = escape_controls(pattern);
  std::vector<ScopePath> paths;
  for (size_t i = 0; i < scopes_.scopes.size(); ++i) {
    if (levels_[i] > kMostLevels) continue;
    ScopePath path = path_of(i);
    if (glob_matches(shown, scope_path_text(path))) paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<std::string> ScopeNumbers::nearest(std::string_view pattern, size_t most) const {
  const std::string wanted(pattern.substr(0, kMostComparedBytes));
  std::vector<std::pair<size_t, std::string>> found;
  for (size_t i = 0; i < scopes_.scopes.size(); ++i) {
    if (levels_[i] > kMostLevels) continue;
    std::string text = scope_path_text(path_of(i));
    const bool has_it = text.find(wanted) != std::string::npos;
    const size_t distance = has_it ? 0 : edit_distance(wanted, std::string_view(text).substr(0, kMostComparedBytes));
    found.emplace_back(distance, std::move(text));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(found.size(), most); ++i) names.push_back(std::move(found[i].second));
  return names;
}

uint64_t ScopeNumbers::value(const Subject& subject) const {
  const ScopeSubject& of = *subject.scope;
  size_t place = 0;
  const Scope* const scope = find(of.path, &place);
  if (scope == nullptr) return 0;
  uint64_t value = 0;
  switch (of.metric) {
    case ScopeMetric::kCount: value = scope->begun; break;
    case ScopeMetric::kKernelLaunches: value = launches_[place]; break;
    case ScopeMetric::kCalls:
      for (const ScopeCall& call : calls_[place]) {
        if (glob_matches(of.call, call.call)) value = add_saturating(value, call.count);
      }
      break;
    case ScopeMetric::kPeak:
    case ScopeMetric::kKept:
    case ScopeMetric::kAllocated:
    case ScopeMetric::kBlocks:
      for (const ScopeMemory& memory : memory_[place]) {
        if (memory.device == subject.device) value = memory_number(memory, of.metric);
      }
      break;
  }
  return of.is_per_run ? average(value, scope->begun, is_in_bytes(of) ? 1 : kHundredths) : value;
}

std::vector<Subject> ScopeNumbers::compared(const ScopePath& path, size_t scope) const {
  size_t place = 0;
  if (find(path, &place) == nullptr) return {};
  std::vector<Subject> subjects;
  const auto add = [&](const std::string& device, ScopeSubject of) {
    Subject subject;
    subject.device = device;
    subject.scope = std::move(of);
    if (value(subject) != 0) subjects.push_back(std::move(subject));
  };
  const auto add_of = [&](const std::string& device, ScopeMetric metric, bool is_per_run) {
    add(device, {scope, metric, is_per_run, "", path});
  };
  add_of("host", ScopeMetric::kCount, false);
  for (const ScopeMemory& memory : memory_[place]) {
    add_of(memory.device, ScopeMetric::kPeak, false);
    add_of(memory.device, ScopeMetric::kKept, false);
    add_of(memory.device, ScopeMetric::kAllocated, true);
    add_of(memory.device, ScopeMetric::kBlocks, true);
  }
  add_of("host", ScopeMetric::kKernelLaunches, true);
  for (const ScopeCall& call : calls_[place]) add("host", {scope, ScopeMetric::kCalls, true, call.call, path});
  return subjects;
}

std::vector<Subject> find_scope_subjects(const Budget& budget, const std::vector<Profile>& runs,
                                         const Profile* baseline) {
  std::vector<Subject> subjects;
  if (budget.scopes.empty()) return subjects;
  std::vector<ScopeNumbers> numbers;
  for (const Profile& run : runs) numbers.emplace_back(run);
  std::optional<ScopeNumbers> base;
  if (baseline != nullptr) base.emplace(*baseline);
  for (size_t scope = 0; scope < budget.scopes.size(); ++scope) {
    const std::vector<Subject> limits = limits_of_scope(budget, scope);
    if (limits.empty() && !base) continue;
    std::vector<ScopePath> paths;
    std::set<ScopePath> known;
    for (const ScopeNumbers& run : numbers) {
      for (ScopePath& path : run.matching(budget.scopes[scope].pattern)) {
        if (known.insert(path).second) paths.push_back(std::move(path));
      }
    }
    if (paths.empty() && must_not_be_there(budget, scope)) paths.push_back({{"", budget.scopes[scope].pattern}});
    for (const ScopePath& path : paths) {
      for (Subject limited : limits) {
        limited.scope->path = path;
        subjects.push_back(std::move(limited));
      }
      if (!limits.empty()) continue;
      std::vector<Subject> compared;
      for (const ScopeNumbers& run : numbers) add_new(run.compared(path, scope), &compared);
      add_new(base->compared(path, scope), &compared);  // subjects of the baseline that the runs lack
      subjects.insert(subjects.end(), std::make_move_iterator(compared.begin()),
                      std::make_move_iterator(compared.end()));
    }
  }
  return subjects;
}

Subject limited_subject(const Subject& subject) {
  Subject limited = subject;
  if (limited.scope) limited.scope->path.clear();
  return limited;
}

bool must_not_be_there(const Budget& budget, size_t scope) {
  return std::any_of(budget.limits.begin(), budget.limits.end(), [scope](const Limit& limit) {
    const std::optional<ScopeSubject>& of = limit.subject.scope;
    return of && of->scope == scope && of->metric == ScopeMetric::kCount && limit.most == uint64_t{0} && !limit.expect;
  });
}

}  // namespace heapprof::cli
