// cli/model/judge/budget_update.h: raises exceeded limits in the file's own text: comments and layout stay.
//
// Guarantees
//  - Only the values change: to the measured value plus the tolerance, rounded up to three digits.
//  - Expectations do not change, nor do limits under [defaults], which apply to other budgets too.
#pragma once

#include "cli/model/judge/verdict.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct RaisedLimits {
  std::string text;  // of the file
  size_t count = 0;
};

// Lines with raised limits are judged again: by the new limit, their own expectation, and the share for a warning.
RaisedLimits raise_limits(const std::string& text, std::vector<Verdict>* verdicts);

// How a limit of at least so much is written in TOML; *value is set to what it reads as.
std::string limit_source(const Subject& subject, uint64_t at_least, uint64_t* value);

}  // namespace heapprof::cli
