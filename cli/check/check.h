// cli/check/check.h: `heapprof check`: budgets, the profiles that they judge, and the output.
//
// Guarantees
//  - A failed program, lost events or an incomplete profile are never "within limits" (codes 4 and 3, not 0 and 1).
//  - Mistakes in budgets, baselines and outputs are found before the program runs, as far as they do not depend on it.
//    A later error prevents only the verdict that it concerns: the others are judged, and all outputs are written.
//  - If a program is over a limit, failed or was not profiled completely, its profile is kept, and named.
#pragma once

#include "cli/base/terminal.h"
#include "cli/model/judge/budget.h"
#include "cli/read/read_suppressions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

enum class Annotations { kAuto, kGithub, kNone };

struct CheckOptions {
  std::vector<std::string> profiles;
  std::vector<std::string> program;  // argv of the program to run; not together with `profiles`
  std::string budget;                // a file
  std::string contracts;             // a file of contracts, instead of a file of budgets
  std::string name;                  // glob: which of its budgets or contracts; empty: all
  std::vector<Limit> limits;         // from flags: they override the file's
  std::vector<std::string> scopes;   // globs: scopes to compare with the baseline
  std::string baseline;              // a profile, a folder of them, or a history (.jsonl)
  std::optional<uint64_t> tolerance_share;
  std::optional<uint64_t> slack_bytes;
  uint64_t runs = 0;                      // 0: as in the budget, else 1
  std::optional<ProcessScope> processes;  // nullopt: as in the budget, else kStarted
  std::string output;                     // path of the program's profile; empty: kept only if something is wrong
  bool allow_sampled = false;             // estimates are judged as if they were exact
  bool warn_only = false;
  bool update_budget = false;
  bool update_baseline = false;
  Annotations annotations = Annotations::kAuto;
  std::vector<std::string> outputs;  // files, in the order of check_formats(); empty: not written
  std::string history;               // a file to which a line is added for each judged device; empty: none
  std::string commit;                // of the judged program; empty: from CI or git
  SuppressionOptions suppressions;
  bool quiet = false;  // no lines for limits that hold
  ColorMode color = ColorMode::kAuto;
};

// The exit code: 0 within limits, 1 over one, 2 wrong usage or a bad budget, 3 no complete profile, 4 the program
// failed.
int check_command(const CheckOptions& options);

}  // namespace heapprof::cli
