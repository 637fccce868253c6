// cli/write/diff/scopes_section.h: the scopes that changed between two profiles, for every format of a diff.
//
// Trust:    the structures refer to unescaped names. The functions return names escaped for a terminal; Markdown
//           escapes them further.
#pragma once

#include "cli/write/diff/diff_view.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct ChangedScope {
  uint32_t place = 0;                       // index in ScopesDiff::scopes
  std::vector<const ScopeNumber*> numbers;  // those that changed; with `all`, every one that differs
};
struct ScopesSection {
  std::vector<ChangedScope> scopes;  // the most changed first
  size_t shown = 0;                  // how many of them are shown
};
// With --device only the memory of that device.
ScopesSection find_scopes(const TwoProfiles& two, const DiffView& view, size_t default_top);

// The cells of a table row.
struct ScopeCells {
  std::string number;  // "allocated", "peak inside on cuda:0", "synchronize stream per run"
  std::string base;    // "-" if the scope is missing
  std::string current;
  std::string change;
  std::string percent;
};
ScopeCells scope_cells(const ScopeChange& scope, const ScopeNumber& number, const DiffView& view);

// "load > attention: parse".
std::string scope_path_text(const ScopesDiff& diff, uint32_t place);
// "3 of 12 changed", "none in base, 12 in current".
std::string scopes_title(const ScopesDiff& diff, const ScopesSection& section);
// The remarks below the table: how many more scopes changed, and what could not be counted. May be empty.
std::vector<std::string> scopes_remarks(const ScopesDiff& diff, const ScopesSection& section);

}  // namespace heapprof::cli
