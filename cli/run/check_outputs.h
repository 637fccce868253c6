// cli/run/check_outputs.h: the verdicts on the terminal, in files, and on GitHub.
#pragma once

#include "cli/base/result.h"
#include "cli/run/check.h"
#include "cli/write/check_report.h"

#include <string>

namespace heapprof::cli {

// A problem if one of the files cannot be made: known before the program runs.
Result<Done> try_outputs(const CheckOptions& options);
Result<int> write_outputs(const CheckReport& report, const CheckOptions& options);

// The folder that holds .git, from here upwards; else the current one. Services know files by their path below it.
std::string project_folder();

}  // namespace heapprof::cli
