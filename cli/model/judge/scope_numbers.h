// cli/model/judge/scope_numbers.h: the numbers of one profile's scopes, as budgets limit them.
//
// All of them are with the scopes inside: a limit would be kept by nothing but a further scope otherwise.
//
// Guarantees
//  - A scope deeper than kMostLevels is judged as a part of those around it alone: a function that opens a scope and
//    calls itself has thousands of paths, each as long as its depth.
//  - A number that a profile has not is 0: a scope that it never began, a device or call that was not used there.
// Trust:    scopes of a profile may stand in any order, and twice; names may hold anything.
// Cost:     linear in the scopes for each pattern, times their depth.
#pragma once

#include "cli/model/judge/budget.h"
#include "cli/model/profile/profile.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapprof::cli {

class ScopeNumbers {
 public:
  static constexpr uint32_t kMostLevels = 256;

  explicit ScopeNumbers(const Profile& profile);

  bool empty() const { return scopes_.scopes.empty(); }
  // Those whose path, as it is shown, the pattern fits; in the order of the profile. None that are deeper than
  // kMostLevels.
  std::vector<ScopePath> matching(std::string_view pattern) const;
  // Up to `most` paths that are most like the pattern, as they are shown.
  std::vector<std::string> nearest(std::string_view pattern, size_t most) const;
  // pre: the subject is of a scope
  uint64_t value(const Subject& subject) const;
  // What a baseline holds still where the budget has no limit of its own: those that are not 0.
  std::vector<Subject> compared(const ScopePath& path, size_t scope) const;

 private:
  ScopePath path_of(size_t place) const;
  const Scope* find(const ScopePath& path, size_t* place) const;

  Scopes scopes_;
  std::vector<std::vector<ScopeMemory>> memory_;  // by place; with the scopes inside, as all else here
  std::vector<std::vector<ScopeCall>> calls_;
  std::vector<uint64_t> launches_;
  std::vector<uint32_t> levels_;                               // of the outermost ones: 1
  std::map<std::pair<uint32_t, ScopeName>, uint32_t> places_;  // by the parent's place + 1, and the name
};

// What the budget's scopes are judged by, in the order in which it is shown: limits of each scope that one of the runs
// has; where the budget has no limit for them, all that the baseline (which may be null) holds still.
std::vector<Subject> find_scope_subjects(const Budget& budget, const std::vector<Profile>& runs,
                                         const Profile* baseline);

// The subject of the limit that is for this one.
Subject limited_subject(const Subject& subject);

// True if the budget says so: a limit of 0 on the count. Then it is no mistake that the pattern finds no scope.
bool must_not_be_there(const Budget& budget, size_t scope);

}  // namespace heapprof::cli
