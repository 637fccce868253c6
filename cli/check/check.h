// cli/check/check.h: `heapprof check`: budgets, the profiles that they are for, and what is said of them.
//
// Guarantees
//  - A program that failed, lost events, a profile that is cut short: never "within limits" (codes 4 and 3, not 0 and
//    1).
//  - Mistakes in budgets, baselines and outputs are found before the program runs, as far as they do not depend on it.
//    What goes wrong later costs its own verdict only: the others are judged, and all outputs are written.
//  - The profile of a program that is over a limit, failed or was not seen whole is kept, and named.
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
  std::vector<std::string> program;  // argv of what to run; not both
  std::string budget;                // a file
  std::string contracts;             // a file, instead of one of budgets
  std::string name;                  // glob: which of its budgets or contracts; empty: all
  std::vector<Limit> limits;         // of flags: they beat the file's
  std::vector<std::string> scopes;   // globs: those that are compared with the baseline
  std::string baseline;              // a profile, a folder of them, or a history (.jsonl)
  std::optional<uint64_t> tolerance_share;
  std::optional<uint64_t> slack_bytes;
  uint64_t runs = 0;                      // 0: as the budget has it, else 1
  std::optional<ProcessScope> processes;  // none: as the budget has it, else kStarted
  std::string output;                     // where the program's profile goes; empty: only kept if something is wrong
  bool allow_sampled = false;             // estimates are judged as if they were exact
  bool warn_only = false;
  bool update_budget = false;
  bool update_baseline = false;
  Annotations annotations = Annotations::kAuto;
  std::vector<std::string> outputs;  // files, in the order of check_formats(); empty: not written
  std::string history;               // a file that gets a line for each device judged; empty: none
  std::string commit;                // of what is judged; empty: as CI or git say
  SuppressionOptions suppressions;
  bool quiet = false;  // no lines for limits that are kept
  ColorMode color = ColorMode::kAuto;
};

// The exit code: 0 within limits, 1 over one, 2 wrong usage or a bad budget, 3 no whole profile, 4 the program failed.
int check_command(const CheckOptions& options);

}  // namespace heapprof::cli
