// cli/run/snapshot_interval.h: the value of `run --interval`.
#pragma once

#include "cli/base/result.h"

#include <cstdint>
#include <string_view>

namespace heapprof::cli {

// "5s", "250ms", "2min", "1h" in nanoseconds, from 10 ms to a day; "marks": kMarksOnly. A problem for anything else.
Result<uint64_t> parse_snapshot_interval(std::string_view text);

}  // namespace heapprof::cli
