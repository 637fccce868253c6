// cli/commands/doctor.h: `heapprof doctor`: what this machine allows, and the fix for what it does not.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

CommandText doctor_text();

// The exit code: 0; 1 if something is missing without which programs cannot be profiled; 2 for wrong usage.
int doctor_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
