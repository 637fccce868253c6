// cli/model/judge/budget_update.h: raises exceeded limits in a budget file's text, and keeps comments and layout.
//
// Guarantees
//  - Only the values of limits change: each becomes the measured value plus the tolerance, rounded up to three digits.
//  - Expectations do not change, nor do limits under [defaults], which apply to other budgets too.
#pragma once

#include "cli/model/judge/verdict.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct RaisedLimits {
  std::string text;  // the whole file's text with the new limits
  size_t count = 0;
};

// A line of a verdict whose limit was raised is judged again, by the new limit, the line's expectation, and the warning
// share.
RaisedLimits raise_limits(const std::string& text, std::vector<Verdict>* verdicts);

// The TOML text of a limit of at least this much. Sets *value to the limit that a reader of the text gets.
std::string limit_source(const Subject& subject, uint64_t at_least, uint64_t* value);

}  // namespace heapprof::cli
