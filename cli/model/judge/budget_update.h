// cli/model/judge/budget_update.h: limits that were exceeded, raised in the file's own text: comments and layout stay.
//
// Guarantees
//  - Only the values change: to what was measured and the tolerance above it, rounded up to three digits.
//  - Expectations, and limits under [defaults], which are others' too, stay as they are.
#pragma once

#include "cli/model/judge/verdict.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct RaisedLimits {
  std::string text;  // of the file
  size_t count = 0;
};

// The lines whose limits are raised are judged anew: by those, by their own expectation, and by the share that warns.
RaisedLimits raise_limits(const std::string& text, std::vector<Verdict>* verdicts);

// How a limit of at least so much is written in TOML; what it reads as is put into *value.
std::string limit_source(const Subject& subject, uint64_t at_least, uint64_t* value);

}  // namespace heapprof::cli
