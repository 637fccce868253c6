// cli/model/analysis/findings_kept.cc: what stays: places that hold more and more, and large blocks that are never
// freed.
//
// A program that loads its data and then works with it, and a cache that fills up, grow too, but not to the end. So
// growth has to go on in each quarter of the time, neither slowing down to half of its mean nor speeding up to twice (a
// container that doubles), and may not fall back by much in between.
// Large blocks of one place that are kept have to be several, allocated over a good part of the run and to its end:
// what a program allocates at its start and keeps is its working memory.
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

struct Point {
  uint64_t at_ns = 0;
  uint64_t bytes = 0;
};

// The live bytes of a place at the device's moments, and at the end, where they are those that leaked.
std::vector<Point> live_series(const FindingScene& scene, const Place& place) {
  const std::vector<uint64_t>& moments_ns = scene.device.moments_ns;
  std::vector<Point> series;
  for (const uint64_t moment_ns : moments_ns) series.push_back({moment_ns, 0});
  Point end{scene.profile.run.duration_ns, 0};
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

// The live bytes at any time: between two points of the series in proportion.
double bytes_at(const std::vector<Point>& series, double at_ns) {
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

struct Growth {
  uint64_t gained_bytes = 0;  // 0: it does not grow steadily
  uint64_t over_ns = 0;
};

Growth measure_growth(const std::vector<Point>& series, uint64_t duration_ns) {
  constexpr int kQuarters = 4;
  const auto highest = std::max_element(series.begin(), series.end(), [](const Point& a, const Point& b) {
    return a.bytes < b.bytes || (a.bytes == b.bytes && a.at_ns < b.at_ns);
  });
  const auto whole_ns = static_cast<double>(duration_ns);
  const double begin_ns = whole_ns / 10;  // before that programs set themselves up
  const auto end_ns = static_cast<double>(highest->at_ns);
  if (end_ns < whole_ns * 0.8) return {};  // it stopped growing; after 80 % some programs tidy up
  const std::vector<Point> rise(series.begin(), highest + 1);
  double values[kQuarters + 1];
  for (int i = 0; i <= kQuarters; ++i) values[i] = bytes_at(rise, begin_ns + (end_ns - begin_ns) * i / kQuarters);
  const double gained = values[kQuarters] - values[0];
  if (gained < static_cast<double>(kGrowthBytes)) return {};
  for (int i = 0; i < kQuarters; ++i) {
    const double in_quarter = values[i + 1] - values[i];
    if (in_quarter < gained / kQuarters * 0.5 || in_quarter > gained / kQuarters * 2) return {};
  }
  double most = 0;
  for (const Point& point : rise) {
    if (static_cast<double>(point.at_ns) < begin_ns) continue;
    most = std::max(most, static_cast<double>(point.bytes));
    if (most - static_cast<double>(point.bytes) > gained / 8) return {};  // it comes and goes
  }
  return {static_cast<uint64_t>(gained), static_cast<uint64_t>(end_ns - begin_ns)};
}

bool is_kept_large(const Site& site) {
  const SiteNumbers& n = site.numbers;
  return site.suppressed_by == 0 && n.leaked_blocks > 0 && n.leaked_bytes / n.leaked_blocks >= kNeverFreedEachBytes;
}

}  // namespace

void find_growth(const FindingScene& scene, std::vector<Finding>* findings) {
  const uint64_t duration_ns = scene.profile.run.duration_ns;
  if (scene.device.moments_ns.size() < kGrowthMoments || duration_ns < kGrowthRunNs) return;
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    const Growth growth = measure_growth(live_series(scene, scene.places[place]), duration_ns);
    const Ratio share{growth.gained_bytes, scene.device.totals.peak_bytes};
    if (growth.gained_bytes == 0 || !is_share(share, kGrowthPercent)) continue;
    std::vector<WeightedSite> sites;
    uint64_t peak_blocks = 0;
    uint64_t leaked_blocks = 0;
    for (const uint32_t index : scene.places[place].sites) {
      const Site& site = scene.device.sites[index];
      if (site.suppressed_by > 0) continue;
      peak_blocks = add_saturating(peak_blocks, site.numbers.peak_blocks);
      leaked_blocks = add_saturating(leaked_blocks, site.numbers.leaked_blocks);
      sites.push_back({index, std::max(site.numbers.peak_bytes, site.numbers.leaked_bytes)});
    }
    if (std::max(peak_blocks, leaked_blocks) < kGrowthBlocks) continue;
    Finding finding = start_finding(scene, FindingKind::kGrowth, place, sites);
    finding.cost_bytes = growth.gained_bytes;
    finding.cost_blocks = std::max(peak_blocks, leaked_blocks);
    finding.over_ns = growth.over_ns;
    finding.share = share;
    findings->push_back(std::move(finding));
  }
}

void find_never_freed(const FindingScene& scene, std::vector<Finding>* findings) {
  const uint64_t duration_ns = scene.profile.run.duration_ns;
  if (scene.profile.run.end.kind != EndKind::kExited) return;  // who is stopped frees nothing
  const auto grows = [&](const Place& place) {
    return std::any_of(findings->begin(), findings->end(), [&](const Finding& finding) {
      return finding.kind == FindingKind::kGrowth && finding.device == scene.device_number &&
             finding.has_frame == place.has_frame && finding.frame == place.frame;
    });
  };
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    std::vector<WeightedSite> sites;
    uint64_t bytes = 0;
    uint64_t blocks = 0;
    uint64_t first_ns = UINT64_MAX;
    uint64_t last_ns = 0;
    for (const uint32_t index : scene.places[place].sites) {
      const Site& site = scene.device.sites[index];
      if (!is_kept_large(site)) continue;
      sites.push_back({index, site.numbers.leaked_bytes});
      bytes = add_saturating(bytes, site.numbers.leaked_bytes);
      blocks = add_saturating(blocks, site.numbers.leaked_blocks);
      first_ns = std::min(first_ns, site.numbers.first_leak_ns);
      last_ns = std::max(last_ns, site.numbers.last_leak_ns);
    }
    if (bytes < kNeverFreedBytes || blocks < kNeverFreedBlocks) continue;
    if (last_ns < duration_ns - duration_ns / 4 || last_ns - first_ns < duration_ns / 4) continue;
    if (grows(scene.places[place])) continue;
    Finding finding = start_finding(scene, FindingKind::kNeverFreed, place, sites);
    finding.cost_bytes = bytes;
    finding.cost_blocks = blocks;
    finding.each_bytes = bytes / blocks;
    finding.over_ns = last_ns - first_ns;
    finding.share = {bytes, scene.device.totals.peak_bytes};
    findings->push_back(std::move(finding));
  }
}

}  // namespace heapprof::cli
