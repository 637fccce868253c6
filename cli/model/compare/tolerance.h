// cli/model/compare/tolerance.h: how large a change is ignored: the one rule of `diff` and of `check` with a baseline.
#pragma once

#include "cli/base/units.h"
#include "cli/model/analysis/metrics.h"

#include <cstdint>

namespace heapprof::cli {

// How much may grow: a share of the base, or so many bytes or blocks, whichever is larger.
struct Tolerance {
  Ratio share = {1, 100};  // of the base
  uint64_t slack_bytes = 4096;
  uint64_t slack_blocks = 10;

  uint64_t slack(Metric metric) const { return is_in_bytes(metric) ? slack_bytes : slack_blocks; }
};

bool is_within(const Change& change, Metric metric, const Tolerance& tolerance);
bool is_growth(const Change& change, Metric metric, const Tolerance& tolerance);  // beyond the tolerance
// The largest value that is no growth over the base.
uint64_t most_within(uint64_t base, Metric metric, const Tolerance& tolerance);
// The same by the share, or by `slack` if that is more.
uint64_t most_within(uint64_t base, const Ratio& share, uint64_t slack);

}  // namespace heapprof::cli
