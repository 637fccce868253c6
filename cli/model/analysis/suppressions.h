// cli/model/analysis/suppressions.h: rules that say which leaks are known and why, so that reports show them
// separately.
//
// Guarantees
//  - They affect only the leaked metric, and only how it is shown: the counts of a site do not change.
//  - A site belongs to at most one rule, the first that fits. So leaked = shown + the sums over the rules.
// Trust:    rules and names may be any bytes.
// Cost:     one glob per rule and distinct frame, then linear in nodes and sites.
#pragma once

#include "cli/base/result.h"
#include "cli/model/analysis/frame_pattern.h"
#include "cli/model/analysis/python/keeps.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

struct SuppressionRule {
  std::vector<FramePattern> frames;  // neighbours, the innermost first
  bool is_at_allocation = false;     // the first of them is what called the allocation function
  std::string text;                  // as it was written
  std::string reason;
  std::string source;  // the file as the user named it; empty: built in
  uint32_t line = 0;
  uint64_t most_blocks = UINT64_MAX;      // of a process: if more blocks fit, the rule suppresses no block
  PythonKeep python = PythonKeep::kNone;  // instead of frames: what Python keeps (python/keeps.h); built in only
};

using Suppressions = std::vector<SuppressionRule>;  // the first that fits counts

// Adds the rules of a file's text: one a line, as heapprof-report(1) says. Lines that begin with "fold" name functions
// whose allocations are attributed to their callers (cli/model/analysis/folding.h).
Result<Done> parse_suppressions(std::string_view text, const std::string& source, Suppressions* rules,
                                std::vector<FramePattern>* folds);

// Adds the rules for memory that libc and libstdc++ keep until exit on purpose, then those for memory that a Python
// interpreter keeps.
void add_default_suppressions(Suppressions* rules);

// Sets Site::suppressed_by of every site that leaked and fits a rule.
void mark_suppressed(const Suppressions& rules, Profile* profile);

struct SuppressedLeaks {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};
// The suppressed leaks of each rule.
std::vector<SuppressedLeaks> sum_by_rule(const Suppressions& rules, const Device& device);

}  // namespace heapprof::cli
