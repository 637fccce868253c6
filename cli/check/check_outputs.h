// cli/check/check_outputs.h: the verdicts on the terminal, in files, and on GitHub.
#pragma once

#include "cli/base/result.h"
#include "cli/check/check.h"
#include "cli/write/check/check_report.h"

#include <string>

namespace heapprof::cli {

// A problem if one of the files cannot be made, or would be written over another: known before the program runs.
Result<Done> try_outputs(const CheckOptions& options);
// Writes all outputs. What goes wrong with one is said, and does not keep the others from being written. False:
// something went wrong.
bool write_outputs(const CheckReport& report, const CheckOptions& options);

// The folder that holds .git, from here upwards; without one the workspace that GitHub or GitLab names, if this is in
// it; else the current one. Services know files by their path below it.
std::string project_folder();
std::string folder_in_project();  // the current one, as "ci/" or ""

}  // namespace heapprof::cli
