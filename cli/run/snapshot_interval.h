// cli/run/snapshot_interval.h: the value of `run --interval`.
#pragma once

#include "cli/base/result.h"

#include <cstdint>
#include <string_view>

namespace heapprof::cli {

// Returns "5s", "250ms", "2min" or "1h" in nanoseconds, from 10 ms to a day; kMarksOnly for "marks"; a problem for
// anything else.
Result<uint64_t> parse_snapshot_interval(std::string_view text);

}  // namespace heapprof::cli
