// cli/write/doctor/formats.h: the formats of `heapprof doctor`.
//
// A new format is one function, one line in formats.cc, and one test; a check compares --help, the man page and the
// completions with the list.
#pragma once

#include "cli/base/terminal.h"
#include "cli/model/capability.h"

#include <span>
#include <string>
#include <vector>

namespace heapprof::cli {

struct DoctorFormat {
  const char* name;  // of --format
  std::string (*render)(const std::vector<Capability>& capabilities, const Terminal& terminal);
};
std::span<const DoctorFormat> doctor_formats();

std::string render_doctor_text(const std::vector<Capability>& capabilities, const Terminal& terminal);
std::string render_doctor_json(const std::vector<Capability>& capabilities, const Terminal& terminal);

}  // namespace heapprof::cli
