// cli/model/judge/scope_numbers.h: the numbers of one profile's scopes, as budgets limit them.
//
// All numbers include inner scopes. Otherwise a program could meet a limit by moving work into an inner scope.
//
// Guarantees
//  - A scope deeper than kMostLevels is judged only as a part of the scopes around it, because a recursive function
//    that opens a scope has thousands of paths, each as long as its depth.
//  - If a profile lacks a scope, or the scope used no such device or call, the number is 0.
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
  // The scopes whose path, as shown to users, matches the pattern, in the order of the profile. Scopes deeper than
  // kMostLevels are left out.
  std::vector<ScopePath> matching(std::string_view pattern) const;
  // The paths that are most like the pattern, as shown to users; at most `most`.
  std::vector<std::string> nearest(std::string_view pattern, size_t most) const;
  // pre: the subject is of a scope
  uint64_t value(const Subject& subject) const;
  // The subjects that are compared with a baseline if the budget has no limit for the scope: all that are not 0.
  std::vector<Subject> compared(const ScopePath& path, size_t scope) const;

 private:
  ScopePath path_of(size_t place) const;
  const Scope* find(const ScopePath& path, size_t* place) const;

  Scopes scopes_;
  std::vector<std::vector<ScopeMemory>> memory_;  // by scope index; includes inner scopes, as all numbers here
  std::vector<std::vector<ScopeCall>> calls_;
  std::vector<uint64_t> launches_;
  std::vector<uint32_t> levels_;                               // 1 for the outermost scopes
  std::map<std::pair<uint32_t, ScopeName>, uint32_t> places_;  // by the parent's index + 1, and the name
};

// The subjects by which the budget's scopes are judged, in the order shown. A scope that at least one run has is judged
// by its limits. If a scope has no limit, it is judged by all subjects that are compared with the baseline (which may
// be null).
std::vector<Subject> find_scope_subjects(const Budget& budget, const std::vector<Profile>& runs,
                                         const Profile* baseline);

// The subject that a limit has if it applies to this subject: without the scope's path.
Subject limited_subject(const Subject& subject);

// True if the budget limits the scope's count to 0. Then a pattern that matches no scope is not an error.
bool must_not_be_there(const Budget& budget, size_t scope);

}  // namespace heapprof::cli
