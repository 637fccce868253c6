// cli/write/check/check_report.h: the verdicts of `heapprof check`, for the formats that people and other tools read.
//
// Guarantees
//  - All formats give the same verdict on each limit. Each format reports a program that failed, or a profile that is
//    incomplete, as an error.
//  - Names of functions and files are not trusted: each format escapes them.
#pragma once

#include "cli/base/terminal.h"
#include "cli/model/judge/verdict.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct CheckReport {
  std::vector<Verdict> verdicts;  // each with a unique name
  bool warn_only = false;         // exceeding a limit is a warning
  bool has_run = false;           // programs were run; else these are profiles
  std::string folder;  // current folder relative to the project's ("ci/", ""): services name files by such paths
};

// For the terminal; `quiet` leaves out limits that hold.
std::string render_check_text(const CheckReport& report, const Terminal& terminal, bool quiet);
// GitHub's workflow commands. GitHub shows at most ten of a kind (error, warning), so the tenth says how many more
// there are.
std::string render_check_annotations(const CheckReport& report);

}  // namespace heapprof::cli
