// cli/model/analysis/findings_kept.cc: what stays: places that hold more and more, and large blocks that are never
// freed.
//
// A program that loads its data and then works with it, and a cache that fills up, grow too, but not to the end. So
// growth has to go on in each quarter of the time, neither slowing down to half of its mean nor speeding up to twice (a
// container that doubles), and may not fall back by much in between.
// Blocks of one place that are kept have to be several, allocated over a good part of the run and to its end: what a
// program allocates at its start and keeps is its working memory. And one stack has to make several of them: a wrapper
// around malloc, which has no name in a stripped program, is the place of all that a program keeps, by a hundred stacks
// that each did so once (git blame, cc1plus). Of small blocks nearly all that a stack made has to be kept: some of a
// cache's are dropped (git log keeps a quarter).
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

struct Growth {
  uint64_t gained_bytes = 0;  // 0: it does not grow steadily
  uint64_t over_ns = 0;
};

Growth measure_growth(const std::vector<LivePoint>& series, uint64_t duration_ns) {
  constexpr int kQuarters = 4;
  const auto highest = std::max_element(series.begin(), series.end(), [](const LivePoint& a, const LivePoint& b) {
    return a.bytes < b.bytes || (a.bytes == b.bytes && a.at_ns < b.at_ns);
  });
  const auto whole_ns = static_cast<double>(duration_ns);
  const double begin_ns = whole_ns / 10;  // before that programs set themselves up
  const auto end_ns = static_cast<double>(highest->at_ns);
  if (end_ns < whole_ns * 0.8) return {};  // it stopped growing; after 80 % some programs tidy up
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
    if (most - static_cast<double>(point.bytes) > gained / 8) return {};  // it comes and goes
  }
  return {static_cast<uint64_t>(gained), static_cast<uint64_t>(end_ns - begin_ns)};
}

bool is_exited_run(const Profile& profile) { return profile.run.end.kind == EndKind::kExited; }

bool grows(const std::vector<Finding>& findings, const FindingScene& scene, const Place& place) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.kind == FindingKind::kGrowth && finding.device == scene.device_number &&
           finding.has_frame == place.has_frame && finding.frame == place.frame;
  });
}

// What a place left, of the sites that a rule is about.
struct Kept {
  std::vector<WeightedSite> sites;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t all_blocks = 0;
  uint64_t first_ns = UINT64_MAX;
  uint64_t last_ns = 0;
  uint64_t repeated_bytes = 0;  // of stacks that each left as many blocks as the rule asks for

  void add(uint32_t index, const SiteNumbers& n, uint64_t repeated_blocks) {
    sites.push_back({index, n.leaked_bytes});
    bytes = add_saturating(bytes, n.leaked_bytes);
    blocks = add_saturating(blocks, n.leaked_blocks);
    all_blocks = add_saturating(all_blocks, n.total_blocks);
    first_ns = std::min(first_ns, n.first_leak_ns);
    last_ns = std::max(last_ns, n.last_leak_ns);
    if (n.leaked_blocks >= repeated_blocks) repeated_bytes = add_saturating(repeated_bytes, n.leaked_bytes);
  }
  // Over the part of the run or more, and up to its end; most of it by stacks that did it again and again.
  bool is_spread(uint64_t run_ns, uint64_t part_of_run) const {
    return last_ns >= run_ns - run_ns / 4 && last_ns - first_ns >= run_ns / part_of_run &&
           repeated_bytes >= bytes - bytes / 2;
  }
};

Finding finish(const FindingScene& scene, FindingKind kind, uint32_t place, const Kept& kept) {
  Finding finding = start_finding(scene, kind, place, kept.sites);
  finding.cost_bytes = kept.bytes;
  finding.cost_blocks = kept.blocks;
  finding.all_blocks = kept.all_blocks;
  finding.each_bytes = kept.bytes / kept.blocks;
  finding.over_ns = kept.last_ns - kept.first_ns;
  finding.share = {kept.bytes, scene.device.totals.peak_bytes};
  return finding;
}

// Where it was judged what can still be reached, only what cannot was never freed: without a look at when it was made,
// as no such block is kept on purpose.
bool is_judged(const Profile& profile) { return profile.run.leak_check.is_made && profile.merged.empty(); }

// The site's numbers as if it had left only what is lost.
SiteNumbers lost_of(const SiteNumbers& numbers) {
  SiteNumbers lost = numbers;
  lost.leaked_bytes = add_saturating(numbers.lost_bytes, numbers.indirectly_lost_bytes);
  lost.leaked_blocks = add_saturating(numbers.lost_blocks, numbers.indirectly_lost_blocks);
  return lost;
}

void find_lost(const FindingScene& scene, FindingKind kind, std::vector<Finding>* findings) {
  const bool is_large = kind == FindingKind::kNeverFreed;
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    Kept kept;
    for (const uint32_t index : scene.places[place].sites) {
      const Site& site = scene.device.sites[index];
      const SiteNumbers lost = lost_of(site.numbers);
      if (site.suppressed_by != 0 || lost.leaked_blocks == 0) continue;
      if ((lost.leaked_bytes / lost.leaked_blocks >= kNeverFreedEachBytes) == is_large) kept.add(index, lost, 1);
    }
    if (kept.bytes < kLostBytes || grows(*findings, scene, scene.places[place])) continue;
    Finding finding = finish(scene, kind, place, kept);
    finding.is_lost = true;
    findings->push_back(std::move(finding));
  }
}

bool is_kept_small(const Site& site) {
  const SiteNumbers& n = site.numbers;
  return site.suppressed_by == 0 && site.grouped_stacks == 0 && n.leaked_blocks > 0 &&
         n.leaked_bytes / n.leaked_blocks < kNeverFreedEachBytes &&
         is_share({n.leaked_blocks, n.total_blocks}, kSmallNeverFreedOfStackPercent);
}

// Whether the place gained until its last block, where that can be seen: a table that was filled at the start, and gets
// a few entries more, did not. In short runs the times are those of the machine's scheduling.
bool gains_to_its_last(const FindingScene& scene, const Place& place, const Kept& kept) {
  if (!has_moments(scene.profile, scene.device)) return true;
  const std::vector<LivePoint> series = live_series(scene, place);
  const auto last_ns = static_cast<double>(kept.last_ns);
  const auto over_ns = static_cast<double>(kept.last_ns - kept.first_ns);
  return bytes_at(series, last_ns - over_ns / 4) <= bytes_at(series, last_ns) * 7 / 8;
}

// The run without what the kernel takes to end a process.
uint64_t own_run_ns(const Profile& profile, const Kept& kept) {
  const uint64_t duration_ns = profile.run.duration_ns;
  return std::max(kept.last_ns, duration_ns - std::min(duration_ns, kSmallNeverFreedEndNs));
}

bool is_kept_large(const Site& site) {
  const SiteNumbers& n = site.numbers;
  return site.suppressed_by == 0 && n.leaked_blocks > 0 && n.leaked_bytes / n.leaked_blocks >= kNeverFreedEachBytes;
}

}  // namespace

std::vector<LivePoint> live_series(const FindingScene& scene, const Place& place) {
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
  const uint64_t duration_ns = scene.profile.run.duration_ns;
  if (!has_moments(scene.profile, scene.device)) return;
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
  if (is_judged(scene.profile)) return find_lost(scene, FindingKind::kNeverFreed, findings);
  if (!is_exited_run(scene.profile)) return;  // who is stopped frees nothing
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    Kept kept;
    for (const uint32_t index : scene.places[place].sites) {
      const Site& site = scene.device.sites[index];
      if (is_kept_large(site)) kept.add(index, site.numbers, kNeverFreedBlocks);
    }
    if (kept.bytes < kNeverFreedBytes || kept.blocks < kNeverFreedBlocks) continue;
    if (!kept.is_spread(scene.profile.run.duration_ns, 4) || grows(*findings, scene, scene.places[place])) continue;
    findings->push_back(finish(scene, FindingKind::kNeverFreed, place, kept));
  }
}

void find_small_never_freed(const FindingScene& scene, std::vector<Finding>* findings) {
  if (is_judged(scene.profile)) return find_lost(scene, FindingKind::kSmallNeverFreed, findings);
  if (!is_exited_run(scene.profile) || !scene.profile.merged.empty()) return;
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    Kept kept;
    for (const uint32_t index : scene.places[place].sites) {
      const Site& site = scene.device.sites[index];
      if (is_kept_small(site)) kept.add(index, site.numbers, kSmallNeverFreedBlocks);
    }
    if (kept.bytes < kSmallNeverFreedBytes || kept.blocks < kSmallNeverFreedBlocks) continue;
    if (!is_share({kept.bytes, scene.device.totals.peak_bytes}, kSmallNeverFreedPercent)) continue;
    if (!kept.is_spread(own_run_ns(scene.profile, kept), kSmallNeverFreedPartOfRun)) continue;
    if (grows(*findings, scene, scene.places[place])) continue;
    if (gains_to_its_last(scene, scene.places[place], kept))
      findings->push_back(finish(scene, FindingKind::kSmallNeverFreed, place, kept));
  }
}

}  // namespace heapprof::cli
