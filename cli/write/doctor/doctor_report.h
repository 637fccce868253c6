// cli/write/doctor/doctor_report.h: what `heapprof doctor` found for people and for scripts.
#pragma once

#include "cli/base/terminal.h"
#include "cli/model/capability.h"

#include <string>
#include <vector>

namespace heapprof::cli {

std::string render_doctor_text(const std::vector<Capability>& capabilities, const Terminal& terminal);
std::string render_doctor_json(const std::vector<Capability>& capabilities, const Terminal& terminal);

}  // namespace heapprof::cli
