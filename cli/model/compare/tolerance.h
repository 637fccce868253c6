// cli/model/compare/tolerance.h: how large a change may be to be ignored. `diff` and `check` with a baseline use the
// same rule.
#pragma once

#include "cli/base/units.h"
#include "cli/model/analysis/metrics.h"

#include <cstdint>

namespace heapprof::cli {

// Allowed growth: a share of the base, or a number of bytes or blocks, whichever is larger.
struct Tolerance {
  Ratio share = {1, 100};  // of the base
  uint64_t slack_bytes = 4096;
  uint64_t slack_blocks = 10;

  uint64_t slack(Metric metric) const { return is_in_bytes(metric) ? slack_bytes : slack_blocks; }
};

bool is_within(const Change& change, Metric metric, const Tolerance& tolerance);
bool is_growth(const Change& change, Metric metric, const Tolerance& tolerance);  // beyond the tolerance
// The largest value that does not count as growth over the base.
uint64_t most_within(uint64_t base, Metric metric, const Tolerance& tolerance);
// The same, with this share of the base, or `slack` if that is more.
uint64_t most_within(uint64_t base, const Ratio& share, uint64_t slack);

}  // namespace heapprof::cli
