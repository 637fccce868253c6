// cli/model/analysis/scope_categories.h: categories that a file gives to scopes by their names, and what each category
// came to.
#pragma once

#include "cli/model/profile/scopes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// [[category]] of a file.
struct CategoryRule {
  std::string name;
  // With " > " it is for paths, with ": " for names with their category, which it takes the place of; else for the
  // names of scopes without one.
  std::vector<std::string> globs;
};

// The first rule that fits a scope counts. Scopes of one parent that have one name and one category then are one.
void give_categories(const std::vector<CategoryRule>& rules, Scopes* scopes);

struct CategorySum {
  std::string category;  // empty: none
  uint64_t scopes = 0;
  uint64_t own_time_ns = 0;         // each moment in a scope is the innermost one's
  std::vector<ScopeMemory> memory;  // likewise; without peaks
};

// The one with the most time first; and those of `rules` that no scope has.
std::vector<CategorySum> sum_categories(const Scopes& scopes, const std::vector<CategoryRule>& rules);

}  // namespace heapprof::cli
