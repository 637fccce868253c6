// cli/model/compare/peak_spread.h: which processes of a merged profile have an outlying peak.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct PeakSpread {
  size_t parts = 0;
  uint64_t smallest_bytes = 0;
  uint64_t median_bytes = 0;
  uint64_t largest_bytes = 0;
  const MergedPart* largest = nullptr;
  std::vector<const MergedPart*> outliers;  // further from the median than a quarter of it; furthest first
  uint64_t smallest_other_bytes = 0;        // of the inputs that are not outliers
  uint64_t largest_other_bytes = 0;
};
// The peaks of one device over the inputs. parts is 0 if the profile is not merged.
PeakSpread find_peak_spread(const Profile& profile, const std::string& device);

}  // namespace heapprof::cli
