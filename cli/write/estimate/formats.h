// cli/write/estimate/formats.h: the formats of `heapprof estimate`.
//
// A new format is one function, one line in formats.cc, and one test; a check compares --help, the man page and the
// completions with the list.
#pragma once

#include "cli/base/terminal.h"
#include "cli/model/estimate/estimate.h"

#include <span>
#include <string>

namespace heapprof::cli {

struct EstimateFormat {
  const char* name;  // of --format
  std::string (*render)(const EstimateResult& result, const Terminal& terminal);
};
std::span<const EstimateFormat> estimate_formats();

std::string render_estimate_text(const EstimateResult& result, const Terminal& terminal);
std::string render_estimate_json(const EstimateResult& result, const Terminal& terminal);

}  // namespace heapprof::cli
