// cli/base/median.h: the middle of some values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

// For an even number of values, the mean of the two in the middle, rounded down; 0 without values.
inline uint64_t median(std::vector<uint64_t> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  const uint64_t upper = values[half];
  return values.size() % 2 == 1 ? upper : values[half - 1] + (upper - values[half - 1]) / 2;
}

}  // namespace heapprof::cli
