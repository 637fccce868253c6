// cli/model/compare/peak_spread.cc: see peak_spread.h.
#include "cli/model/compare/peak_spread.h"

#include "cli/base/median.h"

#include <algorithm>

namespace heapprof::cli {

PeakSpread find_peak_spread(const Profile& profile, const std::string& device) {
  PeakSpread spread;
  std::vector<const MergedPart*> parts;
  for (const MergedPart& part : profile.merged) {
    if (part.device == device) parts.push_back(&part);
  }
  spread.parts = parts.size();
  if (parts.empty()) return spread;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const MergedPart* a, const MergedPart* b) { return a->peak_bytes < b->peak_bytes; });
  std::vector<uint64_t> peaks;
  for (const MergedPart* part : parts) peaks.push_back(part->peak_bytes);
  spread.smallest_bytes = parts.front()->peak_bytes;
  spread.largest_bytes = parts.back()->peak_bytes;
  spread.median_bytes = median(std::move(peaks));
  spread.largest = *std::find_if(parts.begin(), parts.end(),
                                 [&](const MergedPart* part) { return part->peak_bytes == spread.largest_bytes; });
  const auto distance = [&](const MergedPart* part) {
    return std::max(part->peak_bytes, spread.median_bytes) - std::min(part->peak_bytes, spread.median_bytes);
  };
  bool has_other = false;
  for (const MergedPart* part : parts) {
    if (parts.size() > 2 && distance(part) > spread.median_bytes / 4) {
      spread.outliers.push_back(part);
      continue;
    }
    if (!has_other) spread.smallest_other_bytes = part->peak_bytes;
    spread.largest_other_bytes = part->peak_bytes;
    has_other = true;
  }
  std::stable_sort(spread.outliers.begin(), spread.outliers.end(),
                   [&](const MergedPart* a, const MergedPart* b) { return distance(a) > distance(b); });
  return spread;
}

}  // namespace heapprof::cli
