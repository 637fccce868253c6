// cli/model/analysis/findings_started.cc: memory that only a short part of the run needed: at its start (the peak is
// reached early, and the rest of the run stays far below it), or once in between (a spike: an export, a query, a
// report); and memory that slowly rises and falls, like a queue with a slow consumer.
//
// The device's curve shows the fall: it has the largest value of every time bucket, so no later peak is missed. The
// places' live bytes at bucket boundaries or moments (live_series) show whose memory it was. One finding is enough. It
// names the place that freed most; or, if several lines of one function and its callees freed it together, that
// function with these lines (passing_memory.h).
#include "cli/base/saturating.h"
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/analysis/passing_memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace heapprof::cli {
namespace {

struct Descent {
  uint64_t from_ns = 0;      // from then on …
  uint64_t later_bytes = 0;  // … it never had more than this
};

// The time from which the device stays at half of its peak or below; the end of the run if it does not. A bucket in
// which it fell also has the earlier, higher values. So up to 1 % of the run's buckets (at least one) are skipped if
// what follows is below half of them.
Descent find_descent(const Device& device, uint64_t duration_ns) {
  const std::vector<Timeline::Bucket>& buckets = device.timeline.buckets;
  const uint64_t most_bytes = device.totals.peak_bytes / 100 * kStartPeakLaterPercent;
  std::vector<Descent> descents = {{duration_ns, 0}};  // by their begin, the last bucket first
  for (size_t i = buckets.size(); i-- > 0 && buckets[i].max_bytes <= most_bytes;)
    descents.push_back({i * device.timeline.bucket_ns, std::max(descents.back().later_bytes, buckets[i].max_bytes)});
  Descent descent = descents.back();
  const size_t left_out = std::min(descents.size() - 1, std::max<size_t>(1, buckets.size() / 100));
  for (size_t i = 1; i <= left_out; ++i) {
    const Descent& later = descents[descents.size() - 1 - i];
    if (later.later_bytes < descent.later_bytes / 2 && later.from_ns <= duration_ns / 100 * kStartPeakOverPercent)
      descent = later;
  }
  return descent;
}

// The place's largest measured live bytes from then on; nullopt if there is no measurement.
std::optional<uint64_t> later_bytes(const FindingScene& scene, const Place& place, uint64_t from_ns) {
  std::optional<uint64_t> most;
  for (const LivePoint& point : live_series(scene, place)) {
    const bool is_end = point.at_ns >= scene.profile.run.duration_ns;  // when everything is freed
    if (point.at_ns >= from_ns && !is_end) most = std::max(most.value_or(0), point.bytes);
  }
  return most;
}

// The time around the peak in which the device has far more than before and after it. from_ns == to_ns: no spike.
struct Spike {
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  uint64_t elsewhere_bytes = 0;  // the most before and after it
  uint64_t high_ns = 0;          // how long it has more than half of the peak
};

Spike spike_of(const Device& device, size_t first, size_t last) {
  const std::vector<Timeline::Bucket>& buckets = device.timeline.buckets;
  Spike spike{first * device.timeline.bucket_ns, (last + 1) * device.timeline.bucket_ns, 0};
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (i < first || i > last) spike.elsewhere_bytes = std::max(spike.elsewhere_bytes, buckets[i].max_bytes);
  }
  return spike;
}

// Extends the spike to its foot on both sides, where an eighth of its height is left, because its build-up belongs to
// it.
Spike widened(const Device& device, size_t first, size_t last) {
  const std::vector<Timeline::Bucket>& buckets = device.timeline.buckets;
  const auto lowest = [&](size_t from, size_t to) {
    uint64_t low = device.totals.peak_bytes;
    for (size_t i = from; i < to; ++i) low = std::min(low, buckets[i].max_bytes);
    return low;
  };
  const auto foot = [&](uint64_t low) { return low + (device.totals.peak_bytes - low) / 8; };
  const uint64_t before = foot(lowest(0, first));
  const uint64_t after = foot(lowest(last + 1, buckets.size()));
  while (first > 0 && buckets[first - 1].max_bytes > before) --first;
  while (last + 1 < buckets.size() && buckets[last + 1].max_bytes > after) ++last;
  return spike_of(device, first, last);
}

Spike measure_spike(const FindingScene& scene) {
  const Device& device = scene.device;
  const std::vector<Timeline::Bucket>& buckets = device.timeline.buckets;
  const uint64_t bucket_ns = device.timeline.bucket_ns;
  const uint64_t half_bytes = device.totals.peak_bytes / 2;
  if (bucket_ns == 0 || buckets.empty()) return {};
  const size_t at = std::min<size_t>(device.totals.peak_ns / bucket_ns, buckets.size() - 1);
  size_t first = at;
  size_t last = at;
  while (first > 0 && buckets[first - 1].max_bytes > half_bytes) --first;
  while (last + 1 < buckets.size() && buckets[last + 1].max_bytes > half_bytes) ++last;
  const uint64_t duration_ns = scene.profile.run.duration_ns;
  const uint64_t work_ns = duration_ns - std::min(duration_ns, scene.imports_end_ns);
  const auto takes = [&](const Spike& it, uint64_t percent) {
    return it.to_ns - it.from_ns <= work_ns / 100 * percent;
  };
  Spike spike = spike_of(device, first, last);
  spike.high_ns = spike.to_ns - spike.from_ns;
  const bool is_amid = spike.from_ns >= duration_ns / 10 && spike.to_ns <= duration_ns - duration_ns / 20;
  const bool is_above = spike.elsewhere_bytes <= device.totals.peak_bytes / 100 * kSpikeElsewherePercent;
  if (!takes(spike, kSpikeOverPercent) || !is_amid || !is_above) return {};
  Spike whole = widened(device, first, last);
  whole.high_ns = spike.high_ns;
  const bool goes_at_once = whole.to_ns - spike.to_ns <= work_ns / 100 * kSpikeFallPercent;
  return takes(whole, goes_at_once ? kSpikeFootPercent : kSpikeOverPercent) ? whole : spike;
}

// The place's most live bytes before or after the spike, at bucket boundaries or moments.
uint64_t most_elsewhere(const FindingScene& scene, const Place& place, const Spike& spike) {
  uint64_t most = 0;
  for (const LivePoint& point : live_series(scene, place)) {
    if (point.at_ns < spike.from_ns || point.at_ns > spike.to_ns) most = std::max(most, point.bytes);
  }
  return most;
}

// Makes each site's weight what it had at the peak and not at other times: a caller of a place may keep its memory.
void weigh_by_passing(const FindingScene& scene, const Spike& spike, std::vector<WeightedSite>* sites) {
  for (WeightedSite& site : *sites) {
    Place one;
    one.sites = {site.site};
    site.weight -= std::min(site.weight, most_elsewhere(scene, one, spike));
  }
}

// Whether every point in [first, last] is at most most_back_bytes below the highest point before it.
bool goes_up(std::vector<LivePoint>::const_iterator first, std::vector<LivePoint>::const_iterator last,
             uint64_t most_back_bytes) {
  uint64_t highest = 0;
  for (auto point = first; point <= last; ++point) {
    highest = std::max(highest, point->bytes);
    if (highest - point->bytes > most_back_bytes) return false;
  }
  return true;
}

struct TimeSpan {
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
};

// The time in which the series rises from a tenth of its maximum to nine tenths. Returns nullopt unless it later falls
// as far, and both take a good part of the run without reversing: a cache that is swept now and then goes up and down.
std::optional<TimeSpan> rise_before_fall(const std::vector<LivePoint>& series, uint64_t duration_ns) {
  const auto highest = std::max_element(series.begin(), series.end(),
                                        [](const LivePoint& a, const LivePoint& b) { return a.bytes < b.bytes; });
  if (highest == series.end()) return std::nullopt;
  const uint64_t low = highest->bytes / 10;
  const uint64_t high = highest->bytes - low;
  const uint64_t back = highest->bytes / 100 * kBacklogBackPercent;
  const auto is_low = [low](const LivePoint& point) { return point.bytes <= low; };
  const auto is_high = [high](const LivePoint& point) { return point.bytes >= high; };
  const auto before_rise = std::find_if(std::make_reverse_iterator(highest), series.rend(), is_low);
  const auto rise_to = std::find_if(series.begin(), series.end(), is_high);
  const auto before_fall = std::find_if(series.rbegin(), series.rend(), is_high);
  const auto fall_to = std::find_if(highest, series.end(), is_low);
  if (before_rise == series.rend() || fall_to == series.end()) return std::nullopt;
  const auto rise_from = before_rise.base() - 1;
  const auto fall_from = before_fall.base() - 1;
  if (rise_to->at_ns < rise_from->at_ns + duration_ns / 100 * kBacklogRisePercent) return std::nullopt;
  if (fall_to->at_ns < fall_from->at_ns + duration_ns / 100 * kBacklogFallPercent) return std::nullopt;
  const std::vector<LivePoint> backwards(series.rbegin(), series.rend());
  const auto backward = [&](std::vector<LivePoint>::const_iterator at) {
    return backwards.begin() + (series.end() - at - 1);
  };
  if (!goes_up(rise_from, rise_to, back) || !goes_up(backward(fall_to), backward(fall_from), back)) return std::nullopt;
  return TimeSpan{rise_from->at_ns, rise_to->at_ns};
}

// The blocks that were allocated within the span and lived across a bucket boundary.
struct Begun {
  uint64_t blocks = 0;
  double lifetime_ns = 0;  // of a block, on average
};

Begun begun_in(const FindingScene& scene, const Place& place, TimeSpan span) {
  const std::vector<uint64_t>& bounds_ns = scene.device.bounds_ns;
  Begun begun;
  if (bounds_ns.empty()) return begun;
  const auto middle_ns = [&](size_t bucket) {
    const size_t last = bounds_ns.size() - 1;
    const auto left = static_cast<double>(bounds_ns[std::min(bucket, last)]);
    return left + (static_cast<double>(bounds_ns[std::min(bucket + 1, last)]) - left) / 2;
  };
  double lifetimes_ns = 0;
  for (const uint32_t index : place.sites) {
    const Site& site = scene.device.sites[index];
    if (site.suppressed_by > 0) continue;
    for (const Stay& stay : site.stays) {
      const double at_ns = middle_ns(stay.begin);
      if (at_ns < static_cast<double>(span.from_ns) || at_ns > static_cast<double>(span.to_ns)) continue;
      begun.blocks = add_saturating(begun.blocks, stay.blocks);
      lifetimes_ns += static_cast<double>(stay.blocks) * (middle_ns(stay.end) - at_ns);
    }
  }
  if (begun.blocks > 0) begun.lifetime_ns = lifetimes_ns / static_cast<double>(begun.blocks);
  return begun;
}

// Whether blocks live longer the more of them there are, as in a queue; true if that is unknown. The number of sessions
// that each last for a fixed time also rises and falls with the load, but their lifetimes stay the same.
bool waits_longer(const FindingScene& scene, const Place& place, TimeSpan rise) {
  const uint64_t third_ns = (rise.to_ns - rise.from_ns) / 3;
  const Begun first = begun_in(scene, place, {rise.from_ns, rise.from_ns + third_ns});
  const Begun last = begun_in(scene, place, {rise.to_ns - third_ns, rise.to_ns});
  if (first.blocks == 0 || last.blocks == 0) return true;
  return last.lifetime_ns >= first.lifetime_ns * kBacklogWaitFactor;
}

// The time in which the place's memory slowly rises; nullopt unless it then slowly falls while blocks are allocated and
// freed.
std::optional<TimeSpan> slow_rise(const FindingScene& scene, const Place& place) {
  const SiteNumbers& numbers = place.numbers;
  const AtPeak sum = at_peak(scene, place);
  if (sum.bytes < kBacklogBytes || !is_share({sum.bytes, scene.device.totals.peak_bytes}, kBacklogPercent))
    return std::nullopt;
  if (sum.blocks < kBacklogBlocks || numbers.total_blocks / 4 * 3 < sum.blocks) return std::nullopt;
  return rise_before_fall(live_series(scene, place), scene.profile.run.duration_ns);
}

// Whether the place continues to work as at the start: it allocates further blocks, which live about as long. Then a
// rush at the start made the peak, for example a rush of clients.
bool goes_on(const FindingScene& scene, const Place& place, uint64_t from_ns) {
  const Begun start = begun_in(scene, place, {0, from_ns});
  const Begun later = begun_in(scene, place, {from_ns, scene.profile.run.duration_ns});
  return later.blocks >= kGoesOnBlocks && is_share({later.blocks, start.blocks}, kGoesOnPercent) &&
         later.lifetime_ns >= start.lifetime_ns / 2 && later.lifetime_ns <= start.lifetime_ns * 2;
}

}  // namespace

void find_start_peak(const FindingScene& scene, std::vector<Finding>* findings) {
  const uint64_t duration_ns = scene.profile.run.duration_ns;
  const DeviceTotals& totals = scene.device.totals;
  if (!has_moments(scene.profile, scene.device) || totals.peak_bytes < kStartPeakBytes) return;
  if (totals.peak_ns > duration_ns / 100 * kStartPeakByPercent) return;
  const Descent descent = find_descent(scene.device, duration_ns);
  if (descent.from_ns > duration_ns / 100 * kStartPeakOverPercent) return;
  std::vector<Passing> passing;
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    const uint64_t at_peak_bytes = at_peak(scene, scene.places[place]).bytes;
    if (!is_share({at_peak_bytes, totals.peak_bytes}, 1)) continue;
    if (goes_on(scene, scene.places[place], descent.from_ns)) continue;
    std::optional<uint64_t> later = later_bytes(scene, scene.places[place], descent.from_ns);
    // If it allocated more than it had at the peak, it may have had all of the later memory between the moments.
    const uint64_t again_bytes =
        scene.places[place].numbers.total_bytes > at_peak_bytes ? std::min(at_peak_bytes, descent.later_bytes) : 0;
    const bool is_bound = later && again_bytes > *later;
    if (is_bound) later = again_bytes;
    if (later && at_peak_bytes > *later) passing.push_back({place, at_peak_bytes - *later, is_bound});
  }
  std::optional<Cause> cause = find_cause(scene, passing, kStartPeakBytes);
  if (!cause) return;
  Finding finding = start_finding(scene, FindingKind::kStartPeak, &*cause);
  finding.from_ns = descent.from_ns;
  finding.later_bytes = descent.later_bytes;
  findings->push_back(std::move(finding));
}

void find_spike(const FindingScene& scene, std::vector<Finding>* findings) {
  const DeviceTotals& totals = scene.device.totals;
  if (!has_moments(scene.profile, scene.device) || totals.peak_bytes < kSpikeBytes) return;
  if (totals.peak_ns <= scene.profile.run.duration_ns / 100 * kStartPeakByPercent) return;  // a start-up peak
  const Spike spike = measure_spike(scene);
  if (spike.from_ns == spike.to_ns) return;
  std::vector<Passing> passing;
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    const uint64_t at_peak_bytes = at_peak(scene, scene.places[place]).bytes;
    if (!is_share({at_peak_bytes, totals.peak_bytes}, 1)) continue;
    uint64_t elsewhere = most_elsewhere(scene, scene.places[place], spike);
    // If it allocated twice what it had at the peak, it may have had as much again between two measurements.
    const uint64_t again_bytes = scene.places[place].numbers.total_bytes / 2 >= at_peak_bytes
                                     ? std::min(at_peak_bytes, spike.elsewhere_bytes)
                                     : 0;
    const bool is_bound = again_bytes > elsewhere;
    if (is_bound) elsewhere = again_bytes;
    if (at_peak_bytes > elsewhere) passing.push_back({place, at_peak_bytes - elsewhere, is_bound});
  }
  std::optional<Cause> cause = find_cause(scene, passing, kSpikeBytes);
  if (!cause) return;
  weigh_by_passing(scene, spike, &cause->peak.sites);
  // It is a backlog, or the number of sessions rises and falls.
  if (slow_rise(scene, scene.places[cause->passing.place])) return;
  Finding finding = start_finding(scene, FindingKind::kSpike, &*cause);
  finding.over_ns = spike.high_ns;
  finding.later_bytes = spike.elsewhere_bytes;
  finding.without_bytes = std::max(spike.elsewhere_bytes, totals.peak_bytes - finding.cost_bytes);
  findings->push_back(std::move(finding));
}

// Names the place whose blocks pin the most memory.
static void name_pinning(const FindingScene& scene, const std::vector<OwnerPart>& parts, Finding* finding) {
  std::map<uint32_t, OwnerPart> sums;  // by node of a place
  for (const OwnerPart& part : parts) {
    OwnerPart& sum = sums[scene.tree.place_node[part.node]];
    sum.bytes = add_saturating(sum.bytes, part.bytes);
    sum.blocks = add_saturating(sum.blocks, part.blocks);
  }
  uint64_t most_bytes = 0;
  for (const auto& [node, sum] : sums) {
    if (node == 0 || sum.bytes <= most_bytes) continue;
    most_bytes = sum.bytes;
    finding->frame = scene.profile.nodes[node].frame;
    finding->has_frame = true;
    finding->cost_blocks = sum.blocks;
  }
}

void find_fragmentation(const FindingScene& scene, std::vector<Finding>* findings) {
  const Fragmentation& it = scene.device.fragmentation;
  const uint64_t duration_ns = scene.profile.run.duration_ns;
  if (!it.has_any() || it.unused_bytes() < kFragmentationBytes) return;
  if (!is_share({it.unused_bytes(), it.resident_bytes}, kFragmentationPercent)) return;
  if (duration_ns - std::min(duration_ns, it.from_ns) < duration_ns / 100 * kFragmentationOverPercent) return;
  Finding finding;
  finding.kind = FindingKind::kFragmentation;
  finding.device = scene.device_number;
  finding.cost_bytes = it.unused_bytes();
  finding.empty_bytes = it.empty_bytes;
  finding.from_ns = it.from_ns;
  finding.share_of = ShareOf::kResident;
  finding.share = {it.unused_bytes(), it.resident_bytes};
  const uint64_t piece_bytes = it.empty_bytes / std::max<uint64_t>(1, it.empty_pieces);
  const bool is_in_pieces = piece_bytes < kFragmentationPieceBytes && it.sparse_bytes >= it.empty_bytes / 32;
  finding.is_pinned = it.sparse_bytes >= it.empty_bytes || is_in_pieces;
  if (finding.is_pinned) name_pinning(scene, it.pinning, &finding);
  findings->push_back(std::move(finding));
}

void find_untouched(const FindingScene& scene, std::vector<Finding>* findings) {
  std::map<uint32_t, std::pair<UntouchedPart, std::vector<WeightedSite>>> places;
  for (const UntouchedPart& part : scene.device.untouched.parts) {
    for (uint32_t site = 0; site < scene.device.sites.size(); ++site) {
      if (scene.device.sites[site].node != part.node) continue;
      auto& [sum, sites] = places[scene.place_of_site[site]];
      sum.untouched_bytes = add_saturating(sum.untouched_bytes, part.untouched_bytes);
      sum.bytes = add_saturating(sum.bytes, part.bytes);
      sum.blocks = add_saturating(sum.blocks, part.blocks);
      sites.push_back({site, part.untouched_bytes});
      break;
    }
  }
  for (const auto& [place, found] : places) {
    const auto& [sum, sites] = found;
    if (sum.untouched_bytes < kUntouchedBytes || !is_share({sum.untouched_bytes, sum.bytes}, kUntouchedPercent))
      continue;
    Finding finding = start_finding(scene, FindingKind::kUntouched, place, sites);
    finding.cost_bytes = sum.untouched_bytes;
    finding.cost_blocks = sum.blocks;
    finding.at_peak_bytes = sum.bytes;
    finding.seen_ns = scene.device.untouched.seen_ns;
    finding.share = {sum.untouched_bytes, scene.device.totals.peak_bytes};
    findings->push_back(std::move(finding));
  }
}

void find_backlog(const FindingScene& scene, std::vector<Finding>* findings) {
  if (!has_moments(scene.profile, scene.device)) return;
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    const std::optional<TimeSpan> rise = slow_rise(scene, scene.places[place]);
    if (!rise || !waits_longer(scene, scene.places[place], *rise)) continue;
    const SiteNumbers& numbers = scene.places[place].numbers;
    const AtPeak sum = at_peak(scene, scene.places[place]);
    Finding finding = start_finding(scene, FindingKind::kBacklog, place, sum.sites);
    finding.cost_bytes = sum.bytes;
    finding.cost_blocks = sum.blocks;
    finding.all_blocks = numbers.total_blocks;
    finding.lifetime_ns = numbers.lifetime_ns / numbers.total_blocks;
    finding.share = {sum.bytes, scene.device.totals.peak_bytes};
    findings->push_back(std::move(finding));
  }
}

}  // namespace heapprof::cli
