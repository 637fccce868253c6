// cli/model/judge/scope_numbers.h: the numbers of one profile's scopes, as budgets limit them.
//
// All numbers include the scopes inside: otherwise an additional inner scope would be enough to meet a limit.
//
// Guarantees
//  - A scope deeper than kMostLevels is judged only as a part of those around it: a function that opens a scope and
//    calls itself has thousands of paths, each as long as its depth.
//  - A number that a profile lacks is 0: a scope that it never began, a device or call that was not used in it.
// Trust:    scopes of a profile may be in any order, and repeated; names may hold anything.
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
  // The scopes whose path, as shown, matches the pattern, in the order of the profile; without those deeper than
  // kMostLevels.
  std::vector<ScopePath> matching(std::string_view pattern) const;
  // Up to `most` paths that are most like the pattern, as shown.
  std::vector<std::string> nearest(std::string_view pattern, size_t most) const;
  // pre: the subject is of a scope
  uint64_t value(const Subject& subject) const;
  // The subjects that a baseline limits if the budget has no limit for them: those that are not 0.
  std::vector<Subject> compared(const ScopePath& path, size_t scope) const;

 private:
  ScopePath path_of(size_t place) const;
  const Scope* find(const ScopePath& path, size_t* place) const;

  Scopes scopes_;
  std::vector<std::vector<ScopeMemory>> memory_;  // by scope index; with the scopes inside, as everything here
  std::vector<std::vector<ScopeCall>> calls_;
  std::vector<uint64_t> launches_;
  std::vector<uint32_t> levels_;                               // of the outermost ones: 1
  std::map<std::pair<uint32_t, ScopeName>, uint32_t> places_;  // by the parent's index + 1, and the name
};

// What the budget's scopes are judged by, in the order shown: limits of each scope that one of the runs has. For scopes
// without a limit, all subjects that the baseline (which may be null) limits.
std::vector<Subject> find_scope_subjects(const Budget& budget, const std::vector<Profile>& runs,
                                         const Profile* baseline);

// The subject of the limit that applies to this one.
Subject limited_subject(const Subject& subject);

// True if the budget sets a limit of 0 on the count. Then it is no error if the pattern matches no scope.
bool must_not_be_there(const Budget& budget, size_t scope);

}  // namespace heapprof::cli
