// cli/model/profile/program_name.h: a program's name, as shown, and as compared to tell whether two runs are of the
// same program.
#pragma once

#include "cli/base/file_name.h"
#include "cli/model/profile/run.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// As the user named it: "render" of ./render small.usd, "sh" though /bin/sh is dash. Empty if there is no word.
inline std::string program_name(const std::vector<std::string>& command) {
  return command.empty() ? "" : base_name(command[0]);
}

// The name of the executed file, whatever name started it; empty if unknown.
inline std::string executable_name(const RunInfo& run) {
  return run.executable.empty() ? program_name(run.command) : base_name(run.executable);
}

}  // namespace heapprof::cli
