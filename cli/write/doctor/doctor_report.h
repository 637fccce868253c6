// cli/write/doctor/doctor_report.h: the findings of `heapprof doctor` for people and for scripts.
#pragma once

#include "cli/base/terminal.h"
#include "cli/model/capability.h"

#include <string>
#include <vector>

namespace heapprof::cli {

std::string render_checks_text(const std::vector<Check>& checks, const Terminal& terminal);
std::string render_checks_json(const std::vector<Check>& checks, const Terminal& terminal);

}  // namespace heapprof::cli
