// cli/model/analysis/scope_categories.h: categories that a file gives to scopes by their names, and the sums of each
// category.
#pragma once

#include "cli/model/profile/scopes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// A [[category]] table of the file.
struct CategoryRule {
  std::string name;
  // A glob with " > " matches paths. A glob with ": " matches names with their category, which the rule's category
  // replaces. Any other glob matches names of scopes without a category.
  std::vector<std::string> globs;
};

// The first rule that fits a scope counts. Scopes of one parent that then have the same name and category are merged.
void give_categories(const std::vector<CategoryRule>& rules, Scopes* scopes);

struct CategorySum {
  std::string category;  // empty: none
  uint64_t scopes = 0;
  uint64_t own_time_ns = 0;         // each moment counts for the innermost scope
  std::vector<ScopeMemory> memory;  // likewise; without peaks
};

// The category with the most time comes first. Categories of `rules` that no scope has are included.
std::vector<CategorySum> sum_categories(const Scopes& scopes, const std::vector<CategoryRule>& rules);

}  // namespace heapprof::cli
