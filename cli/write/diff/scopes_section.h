// cli/write/diff/scopes_section.h: the scopes that changed between two profiles, as every format of a diff shows them.
//
// Trust:    names come out as they went in; a terminal's are escaped by the words below, Markdown escapes them further.
#pragma once

#include "cli/write/diff/diff_view.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct ChangedScope {
  uint32_t place = 0;                       // in ScopesDiff::scopes
  std::vector<const ScopeNumber*> numbers;  // that changed; with `all` those that differ at all
};
struct ScopesSection {
  std::vector<ChangedScope> scopes;  // the most changed first
  size_t shown = 0;                  // of those
};
// With --device the memory of that device alone.
ScopesSection find_scopes(const TwoProfiles& two, const DiffView& view, size_t default_top);

// What stands in a row of a table.
struct ScopeCells {
  std::string number;  // "allocated", "peak inside on cuda:0", "synchronize stream per run"
  std::string base;    // "-" where the scope is not
  std::string current;
  std::string change;
  std::string percent;
};
ScopeCells scope_cells(const ScopeChange& scope, const ScopeNumber& number, const DiffView& view);

// "load > attention: parse".
std::string scope_path_text(const ScopesDiff& diff, uint32_t place);
// "3 of 12 changed", "none in base, 12 in current".
std::string scopes_title(const ScopesDiff& diff, const ScopesSection& section);
// What stands below: how many more changed, and what could not be counted. Empty: nothing.
std::vector<std::string> scopes_remarks(const ScopesDiff& diff, const ScopesSection& section);

}  // namespace heapprof::cli
