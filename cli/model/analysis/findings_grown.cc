// cli/model/analysis/findings_grown.cc: places whose live bytes grow steadily.
//
// A program that loads its data and then works with it also grows, and so does a cache that fills up, but not to the
// end. So growth must continue in each quarter of the time from the place's begin to the program's clean-up. In no
// quarter may it be less than half of the mean, or more than twice the mean (a container that doubles). It must not
// fall back by much in between. A program that loads data until its end looks the same, and usually ends within a
// second. In so short a run, growth is not a problem but a remark about the place's memory
// (cli/write/report/conclusion.cc), so that a slow machine names the same place.
#include "cli/base/file_name.h"
#include "cli/base/saturating.h"
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/analysis/python/paths.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

struct Growth {
  uint64_t gained_bytes = 0;  // 0: it does not grow steadily
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
};

// Whether the place frees half of its maximum while the program continues. Frees in the last tenth of the run do not
// count.
bool is_released(std::vector<LivePoint>::const_iterator highest, std::vector<LivePoint>::const_iterator end,
                 uint64_t duration_ns) {
  constexpr uint64_t kPartOfRun = 10;  // an interpreter takes a while to end
  const auto half =
      std::find_if(highest, end, [&](const LivePoint& point) { return point.bytes < highest->bytes / 2; });
  return half != end && half->at_ns + duration_ns / kPartOfRun < duration_ns;
}

// The time in which the program works, between its imports and its clean-up.
struct WorkSpan {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
};

// from_its_begin: the time before the place's first block is ignored.
Growth measure_growth(const std::vector<LivePoint>& series, uint64_t duration_ns, WorkSpan work, bool from_its_begin) {
  constexpr int kQuarters = 4;
  const auto highest = std::max_element(series.begin(), series.end(), [](const LivePoint& a, const LivePoint& b) {
    return a.bytes < b.bytes || (a.bytes == b.bytes && a.at_ns < b.at_ns);
  });
  if (highest == series.end()) return {};
  const auto whole_ns = static_cast<double>(work.end_ns);
  const auto run_ns = static_cast<double>(duration_ns);
  const auto work_ns = static_cast<double>(work.end_ns - work.begin_ns);
  double begin_ns = static_cast<double>(work.begin_ns) + work_ns / 10;  // the first tenth is set-up
  for (const LivePoint& point : series) {
    if (!from_its_begin || point.bytes > highest->bytes / 20) break;
    begin_ns = std::max(begin_ns, static_cast<double>(point.at_ns));
  }
  const auto end_ns = static_cast<double>(highest->at_ns);
  if (end_ns < std::min(run_ns * 0.8, whole_ns * 0.95)) return {};  // it stopped growing; some clean up after 80 %
  if (end_ns - begin_ns < work_ns / 4) return {};
  const std::vector<LivePoint> rise(series.begin(), highest + 1);
  double values[kQuarters + 1];
  for (int i = 0; i <= kQuarters; ++i) values[i] = bytes_at(rise, begin_ns + (end_ns - begin_ns) * i / kQuarters);
  const double gained = values[kQuarters] - values[0];
  if (gained < static_cast<double>(kGrowthBytes)) return {};
  for (int i = 0; i < kQuarters; ++i) {
    const double in_quarter = values[i + 1] - values[i];
    if (in_quarter < gained / kQuarters * 0.5 || in_quarter > gained / kQuarters * 2) return {};
  }
  double most = 0;
  for (const LivePoint& point : rise) {
    if (static_cast<double>(point.at_ns) < begin_ns) continue;
    most = std::max(most, static_cast<double>(point.bytes));
    if (most - static_cast<double>(point.bytes) > gained / 8) return {};  // it goes up and down
  }
  if (is_released(highest, series.end(), duration_ns)) return {};
  return {static_cast<uint64_t>(gained), static_cast<uint64_t>(begin_ns), static_cast<uint64_t>(end_ns)};
}

// The blocks of a stay are live at each bucket boundary between its begin and its end.
std::vector<LivePoint> series_at_bounds(const FindingScene& scene, const Place& place) {
  const std::vector<uint64_t>& bounds_ns = scene.device.bounds_ns;
  std::vector<uint64_t> begun(bounds_ns.size() + 2);  // bytes, by the first boundary at which they are live
  std::vector<uint64_t> ended(bounds_ns.size() + 2);  // bytes, by the first boundary at which they are freed
  for (const uint32_t index : place.sites) {
    const Site& site = scene.device.sites[index];
    if (site.suppressed_by > 0) continue;
    for (const Stay& stay : site.stays) {
      uint64_t& first = begun[std::min<size_t>(stay.begin + size_t{1}, begun.size() - 1)];
      uint64_t& last = ended[std::min<size_t>(stay.end + size_t{1}, ended.size() - 1)];
      first = add_saturating(first, stay.bytes);
      last = add_saturating(last, stay.bytes);
    }
  }
  std::vector<LivePoint> series;
  uint64_t live = 0;
  for (size_t bound = 0; bound < bounds_ns.size(); ++bound) {
    live = add_saturating(live, begun[bound]);
    live -= std::min(live, ended[bound]);
    series.push_back({bounds_ns[bound], live});
  }
  return series;
}

std::vector<LivePoint> series_at_moments(const FindingScene& scene, const Place& place) {
  const std::vector<uint64_t>& moments_ns = scene.device.moments_ns;
  std::vector<LivePoint> series;
  for (const uint64_t moment_ns : moments_ns) series.push_back({moment_ns, 0});
  LivePoint end{scene.profile.run.duration_ns, 0};
  for (const uint32_t index : place.sites) {
    const Site& site = scene.device.sites[index];
    if (site.suppressed_by > 0) continue;
    const std::vector<uint64_t>& live_bytes = site.live_bytes;
    for (size_t i = 0; i < std::min(series.size(), live_bytes.size()); ++i)
      series[i].bytes = add_saturating(series[i].bytes, live_bytes[i]);
    end.bytes = add_saturating(end.bytes, site.numbers.leaked_bytes);
  }
  if (series.empty() || end.at_ns > series.back().at_ns) series.push_back(end);
  return series;
}

// Whether PyTorch allocated the memory, called by a Python line.
bool goes_through_torch(const Profile& profile, const PlaceTree& tree, uint32_t node) {
  const uint32_t place = tree.place_node[node];
  if (place == 0 || !is_of_python(profile, profile.frames[profile.nodes[place].frame])) return false;
  for (; node != place && node != 0; node = profile.nodes[node].parent) {
    const uint32_t module = profile.frames[profile.nodes[node].frame].module;
    if (module < profile.modules.size() && base_name_view(profile.modules[module].path).starts_with("libtorch"))
      return true;
  }
  return false;
}

// Blocks of the heap that were freed and whose beginning was not recorded, if recording began in a program that ran.
uint64_t older_frees(const Profile& profile) {
  const bool begins_late = profile.run.is_attached || profile.run.sampling.has_any();
  return begins_late ? add_saturating(profile.run.counters.inherited_frees, profile.run.counters.left_out_ended) : 0;
}

bool has_source(const FindingScene& scene, const Place& place) {
  return place.has_frame && !scene.profile.frames[place.frame].file.empty();
}

}  // namespace

std::vector<LivePoint> live_series(const FindingScene& scene, const Place& place) {
  const bool has_bounds = scene.device.bounds_ns.size() >= kGrowthMoments;
  return has_bounds ? series_at_bounds(scene, place) : series_at_moments(scene, place);
}

double bytes_at(const std::vector<LivePoint>& series, double at_ns) {
  for (size_t i = 1; i < series.size(); ++i) {
    const auto left_ns = static_cast<double>(series[i - 1].at_ns);
    const auto right_ns = static_cast<double>(series[i].at_ns);
    if (at_ns > right_ns && i + 1 < series.size()) continue;
    const auto left = static_cast<double>(series[i - 1].bytes);
    const auto right = static_cast<double>(series[i].bytes);
    const double part = right_ns > left_ns ? std::clamp((at_ns - left_ns) / (right_ns - left_ns), 0.0, 1.0) : 1.0;
    return left + (right - left) * part;
  }
  return 0;
}

void find_growth(const FindingScene& scene, std::vector<Finding>* findings) {
  if (!has_moments(scene.profile, scene.device)) return;
  const uint64_t duration_ns = scene.profile.run.duration_ns;
  const uint64_t end_ns = drain_start_ns(scene.profile, scene.device);
  const WorkSpan work{std::min(scene.imports_end_ns, end_ns), end_ns};
  const uint64_t least_bytes = std::max(kGrowthBytes, scene.device.totals.peak_bytes / 100 * kGrowthPercent);
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    std::vector<WeightedSite> sites;
    uint64_t most_bytes = 0;  // an upper bound of its live bytes
    uint64_t most_blocks = 0;
    uint64_t leaked_bytes = 0;
    for (const uint32_t index : scene.places[place].sites) {
      const Site& site = scene.device.sites[index];
      if (site.suppressed_by > 0) continue;
      sites.push_back({index, std::max(site.numbers.max_bytes, site.numbers.peak_bytes)});
      most_bytes = add_saturating(most_bytes, sites.back().weight);
      most_blocks = add_saturating(most_blocks, std::max(site.numbers.max_blocks, site.numbers.peak_blocks));
      leaked_bytes = add_saturating(leaked_bytes, site.numbers.leaked_bytes);
    }
    if (most_bytes < least_bytes) continue;
    // A place without a source line belongs to a program from a distribution, for example a compiler, for which keeping
    // all that it reads is no problem. There the finding states only how the heap develops over the whole run, from its
    // moments.
    const bool is_own = has_source(scene, scene.places[place]);
    const bool is_brief =
        duration_ns - std::min(duration_ns, work.begin_ns) < kGrowthRunNs || most_blocks < kGrowthBlocks;
    if (!is_own && (is_brief || scene.device.moments_ns.size() < kGrowthMoments)) continue;
    const Growth growth =
        is_own ? measure_growth(live_series(scene, scene.places[place]), duration_ns, work, true)
               : measure_growth(series_at_moments(scene, scene.places[place]), duration_ns, {0, duration_ns}, false);
    const Ratio share{growth.gained_bytes, scene.device.totals.peak_bytes};
    if (growth.gained_bytes == 0 || !is_share(share, kGrowthPercent)) continue;
    const auto largest = std::max_element(
        sites.begin(), sites.end(), [](const WeightedSite& a, const WeightedSite& b) { return a.weight < b.weight; });
    const uint32_t largest_node = scene.device.sites[largest->site].node;
    // Callers are weighted by their gain, because a caller whose memory does not grow may have most of the peak.
    Place one = scene.places[place];
    for (WeightedSite& site : sites) {
      one.sites.assign(1, site.site);
      const std::vector<LivePoint> series = is_own ? live_series(scene, one) : series_at_moments(scene, one);
      const double before = bytes_at(series, static_cast<double>(growth.begin_ns));
      site.weight = static_cast<uint64_t>(std::max(0.0, bytes_at(series, static_cast<double>(growth.end_ns)) - before));
    }
    std::erase_if(sites, [](const WeightedSite& site) { return site.weight == 0; });
    Finding finding = start_finding(scene, FindingKind::kGrowth, place, sites);
    finding.cost_bytes = growth.gained_bytes;
    finding.cost_blocks = most_blocks;
    finding.over_ns = growth.end_ns - growth.begin_ns;
    finding.share = share;
    finding.is_brief = is_brief;
    finding.older_frees = scene.device_number == 0 ? older_frees(scene.profile) : 0;
    finding.is_of_tensors =
        scene.device.name.ends_with("/tensors") || goes_through_torch(scene.profile, scene.tree, largest_node);
    finding.is_left = is_exited_run(scene.profile) && leaked_bytes >= growth.gained_bytes - growth.gained_bytes / 10;
    findings->push_back(std::move(finding));
  }
}

}  // namespace heapprof::cli
