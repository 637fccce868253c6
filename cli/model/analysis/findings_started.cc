// cli/model/analysis/findings_started.cc: what only the start of a run needed: the peak is reached early, and the rest
// of the run lives far below it.
//
// That the device came down is told from its curve, which has the largest value of every stretch of time: no later peak
// is missed. Whose memory it was is told from what places held at the moments that were looked at, of which the host
// alone has some. One finding is enough: it names the place that gave back most.
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <optional>

namespace heapprof::cli {
namespace {

struct Descent {
  uint64_t from_ns = 0;      // from then on …
  uint64_t later_bytes = 0;  // … it never had more than this
};

// Since when the device stays at half of its peak or below; the end of the run if it does not. The stretch of time in
// which it came down has values from before that: it is left out if what follows is below half of it.
Descent find_descent(const Device& device, uint64_t duration_ns) {
  const std::vector<Timeline::Bucket>& buckets = device.timeline.buckets;
  const uint64_t most_bytes = device.totals.peak_bytes / 100 * kStartPeakLaterPercent;
  Descent descent{duration_ns, 0};
  Descent next = descent;  // one stretch later
  for (size_t i = buckets.size(); i-- > 0 && buckets[i].max_bytes <= most_bytes;) {
    next = descent;
    descent = {i * device.timeline.bucket_ns, std::max(descent.later_bytes, buckets[i].max_bytes)};
  }
  const bool came_down_within = next.later_bytes < descent.later_bytes / 2;
  return came_down_within && next.from_ns <= duration_ns / 100 * kStartPeakOverPercent ? next : descent;
}

// The most that the place was seen with from then on; none: nobody looked.
std::optional<uint64_t> later_bytes(const FindingScene& scene, const Place& place, uint64_t from_ns) {
  const std::vector<uint64_t>& moments_ns = scene.device.moments_ns;
  std::optional<uint64_t> most;
  for (size_t i = 0; i < moments_ns.size(); ++i) {
    if (moments_ns[i] < from_ns) continue;
    uint64_t sum = 0;
    for (const uint32_t index : place.sites) {
      const std::vector<uint64_t>& live_bytes = scene.device.sites[index].live_bytes;
      if (i < live_bytes.size()) sum = add_saturating(sum, live_bytes[i]);
    }
    most = std::max(most.value_or(0), sum);
  }
  return most;
}

}  // namespace

void find_start_peak(const FindingScene& scene, std::vector<Finding>* findings) {
  const uint64_t duration_ns = scene.profile.run.duration_ns;
  const DeviceTotals& totals = scene.device.totals;
  if (!has_moments(scene.profile, scene.device) || totals.peak_bytes < kStartPeakBytes) return;
  if (totals.peak_ns > duration_ns / 100 * kStartPeakByPercent) return;
  const Descent descent = find_descent(scene.device, duration_ns);
  if (descent.from_ns > duration_ns / 100 * kStartPeakOverPercent) return;
  uint64_t largest_bytes = 0;
  uint32_t largest = 0;
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    const uint64_t at_peak_bytes = scene.places[place].numbers.peak_bytes;
    if (at_peak_bytes <= largest_bytes) continue;
    std::optional<uint64_t> later = later_bytes(scene, scene.places[place], descent.from_ns);
    // It allocated more than it had at the peak: between the moments it may have had again all that there was.
    if (later && scene.places[place].numbers.total_bytes > at_peak_bytes)
      later = std::max(*later, std::min(at_peak_bytes, descent.later_bytes));
    if (!later || at_peak_bytes <= *later || at_peak_bytes - *later <= largest_bytes) continue;
    largest_bytes = at_peak_bytes - *later;
    largest = place;
  }
  if (largest_bytes < kStartPeakBytes) return;
  std::vector<WeightedSite> sites;
  for (const uint32_t index : scene.places[largest].sites)
    sites.push_back({index, scene.device.sites[index].numbers.peak_bytes});
  Finding finding = start_finding(scene, FindingKind::kStartPeak, largest, sites);
  finding.cost_bytes = largest_bytes;
  finding.cost_blocks = scene.places[largest].numbers.peak_blocks;
  finding.at_peak_bytes = scene.places[largest].numbers.peak_bytes;
  finding.from_ns = descent.from_ns;
  finding.later_bytes = descent.later_bytes;
  finding.share = {largest_bytes, totals.peak_bytes};
  findings->push_back(std::move(finding));
}

}  // namespace heapprof::cli
