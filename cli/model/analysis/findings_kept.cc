// cli/model/analysis/findings_kept.cc: blocks that are never freed.
//
// A program that frees its memory before it exits shows that it keeps nothing on purpose. Memory that then remains is a
// leak, however small, if it was allocated over a good part of the run. Otherwise a place must keep several blocks,
// allocated over a good part of the run and up to its end, because what a program allocates at its start and keeps is
// its working memory. Also, one stack must make several of them. In a stripped program an unnamed wrapper around malloc
// is the place of all kept memory, from a hundred stacks with one block each (git blame, cc1plus). A stack with small
// blocks must keep nearly all of them, because a cache drops some (git log keeps a quarter).
#include "cli/base/saturating.h"
#include "cli/model/analysis/finding_rules.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

bool grows(const std::vector<Finding>& findings, const FindingScene& scene, const Place& place) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return is_growth_of(finding, scene, place); });
}

// What a place left live at exit, summed over the sites that a rule considers.
struct Kept {
  std::vector<WeightedSite> sites;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t all_blocks = 0;
  uint64_t first_ns = UINT64_MAX;
  uint64_t last_ns = 0;
  uint64_t repeated_bytes = 0;  // of stacks that each left as many blocks as the rule requires

  void add(uint32_t index, const SiteNumbers& n, uint64_t repeated_blocks) {
    sites.push_back({index, n.leaked_bytes});
    bytes = add_saturating(bytes, n.leaked_bytes);
    blocks = add_saturating(blocks, n.leaked_blocks);
    all_blocks = add_saturating(all_blocks, n.total_blocks);
    first_ns = std::min(first_ns, n.first_leak_ns);
    last_ns = std::max(last_ns, n.last_leak_ns);
    if (n.leaked_blocks >= repeated_blocks) repeated_bytes = add_saturating(repeated_bytes, n.leaked_bytes);
  }
  // Whether it was allocated over at least this part of the run and into its last quarter, at least half of it by
  // stacks that each left several blocks.
  bool is_spread(uint64_t run_ns, uint64_t part_of_run) const {
    return last_ns >= run_ns - run_ns / 4 && last_ns - first_ns >= run_ns / part_of_run &&
           repeated_bytes >= bytes - bytes / 2;
  }
};

// What a run left live at its end.
class Leftovers {
 public:
  explicit Leftovers(const FindingScene& scene)
      : scene_(scene),
        is_own_end_(is_exited_run(scene.profile) && scene.profile.merged.empty()),
        has_shut_down_(has_shut_down(scene.profile, scene.device)) {
    for (const Site& site : scene.device.sites) all_.add(site);
  }

  // Whether the run frees nearly all memory, and the place has a good part of the rest, allocated over time.
  bool has_leaked(const Place& place, const Kept& kept) const {
    return kept.bytes >= kShutDownLeftBytes &&
           is_share({kept.bytes, scene_.device.totals.leaked_bytes}, kShutDownOfLeftPercent) &&
           kept.last_ns - kept.first_ns >= scene_.profile.run.duration_ns / kShutDownPartOfRun &&
           kept.repeated_bytes >= kept.bytes - kept.bytes / 2 && (has_shut_down_ || has_freed_others(place));
  }

 private:
  struct Sums {
    uint64_t peak_bytes = 0;
    uint64_t left_bytes = 0;

    void add(const Site& site) {
      if (site.suppressed_by != 0) return;
      peak_bytes = add_saturating(peak_bytes, site.numbers.peak_bytes);
      left_bytes = add_saturating(left_bytes, site.numbers.leaked_bytes);
    }
  };

  // Whether the other places freed nearly all that they had. This place may have left most of all memory.
  bool has_freed_others(const Place& place) const {
    constexpr uint64_t kLeastBytes = 32 * kKiB;
    Sums own;
    for (const uint32_t index : place.sites) own.add(scene_.device.sites[index]);
    const uint64_t peak_bytes = all_.peak_bytes - std::min(all_.peak_bytes, own.peak_bytes);
    const uint64_t left_bytes = all_.left_bytes - std::min(all_.left_bytes, own.left_bytes);
    return is_own_end_ && peak_bytes >= kLeastBytes && left_bytes <= peak_bytes / 100 * kOthersLeftPercent;
  }

  const FindingScene& scene_;
  bool is_own_end_;
  bool has_shut_down_;
  Sums all_;
};

Finding finish(const FindingScene& scene, FindingKind kind, uint32_t place, const Kept& kept,
               bool is_by_contrast = false) {
  Finding finding = start_finding(scene, kind, place, kept.sites);
  finding.cost_bytes = kept.bytes;
  finding.cost_blocks = kept.blocks;
  finding.all_blocks = kept.all_blocks;
  finding.each_bytes = kept.bytes / kept.blocks;
  finding.over_ns = kept.last_ns - kept.first_ns;
  finding.share = {kept.bytes, scene.device.totals.peak_bytes};
  finding.is_by_contrast = is_by_contrast;
  return finding;
}

// Whether leaks were classified. Then only unreachable blocks count as never freed, whenever they were allocated,
// because no such block is kept on purpose.
bool is_judged(const Profile& profile) { return profile.run.leak_check.is_made && profile.merged.empty(); }

// The site's numbers as if only lost memory were left.
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
    if (kept.bytes < kLostBytes) continue;
    std::erase_if(*findings, [&](const Finding& finding) { return is_growth_of(finding, scene, scene.places[place]); });
    Finding finding = finish(scene, kind, place, kept);
    finding.is_lost = true;
    findings->push_back(std::move(finding));
  }
}

// Whether find_lost_by_owner() has already added findings, which include small blocks.
bool has_owners(const std::vector<Finding>& findings, const FindingScene& scene) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.owners != 0 && finding.device == scene.device_number;
  });
}

bool is_kept_small(const Site& site) {
  const SiteNumbers& n = site.numbers;
  return site.suppressed_by == 0 && site.grouped_stacks == 0 && n.leaked_blocks > 0 &&
         n.leaked_bytes / n.leaked_blocks < kNeverFreedEachBytes;
}
bool keeps_nearly_all(const SiteNumbers& n) {
  return is_share({n.leaked_blocks, n.total_blocks}, kSmallNeverFreedOfStackPercent);
}

// Whether the place grew until its last block; true if that is unknown. A table that is filled at the start and later
// gets a few more entries did not. In short runs the times depend on the machine's scheduling.
bool gains_to_its_last(const FindingScene& scene, const Place& place, const Kept& kept) {
  if (!has_moments(scene.profile, scene.device) || scene.profile.run.duration_ns < kGrowthRunNs) return true;
  const std::vector<LivePoint> series = live_series(scene, place);
  const auto last_ns = static_cast<double>(kept.last_ns);
  const auto over_ns = static_cast<double>(kept.last_ns - kept.first_ns);
  return bytes_at(series, last_ns - over_ns / 4) <= bytes_at(series, last_ns) * 7 / 8;
}

// The run's duration without the time that the kernel needs to end a process.
uint64_t own_run_ns(const Profile& profile, const Kept& kept) {
  const uint64_t duration_ns = profile.run.duration_ns;
  return std::max(kept.last_ns, duration_ns - std::min(duration_ns, kSmallNeverFreedEndNs));
}

bool is_kept_large(const Site& site) {
  const SiteNumbers& n = site.numbers;
  return site.suppressed_by == 0 && n.leaked_blocks > 0 && n.leaked_bytes / n.leaked_blocks >= kNeverFreedEachBytes;
}

}  // namespace

bool is_growth_of(const Finding& finding, const FindingScene& scene, const Place& place) {
  return finding.kind == FindingKind::kGrowth && !finding.is_brief && finding.device == scene.device_number &&
         finding.has_frame == place.has_frame && finding.frame == place.frame;
}

bool has_shut_down(const Profile& profile, const Device& device) {
  const std::vector<Timeline::Bucket>& buckets = device.timeline.buckets;
  uint64_t level = buckets.empty() ? device.totals.peak_bytes : 0;  // in the last tenth of the run
  for (size_t i = buckets.size() - buckets.size() / 10 - std::min<size_t>(buckets.size(), 1); i < buckets.size(); ++i)
    level = std::max(level, buckets[i].max_bytes);
  return is_exited_run(profile) && profile.merged.empty() && level >= kMiB &&
         device.totals.leaked_bytes <= level / 100 * kShutDownLeftPercent;
}

void find_never_freed(const FindingScene& scene, std::vector<Finding>* findings) {
  if (is_judged(scene.profile)) {
    if (!find_lost_by_owner(scene, findings)) find_lost(scene, FindingKind::kNeverFreed, findings);
    return;
  }
  if (!is_exited_run(scene.profile)) return;  // a killed program frees nothing
  const Leftovers leftovers(scene);
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    Kept kept;
    for (const uint32_t index : scene.places[place].sites) {
      const Site& site = scene.device.sites[index];
      if (is_kept_large(site)) kept.add(index, site.numbers, kNeverFreedBlocks);
    }
    const bool is_left = leftovers.has_leaked(scene.places[place], kept) && kept.blocks >= kNeverFreedBlocks;
    if (!is_left && (kept.bytes < kNeverFreedBytes || kept.blocks < kNeverFreedBlocks)) continue;
    if (!is_left && !kept.is_spread(scene.profile.run.duration_ns, 4)) continue;
    if (grows(*findings, scene, scene.places[place])) continue;
    findings->push_back(finish(scene, FindingKind::kNeverFreed, place, kept, is_left));
  }
}

void find_small_never_freed(const FindingScene& scene, std::vector<Finding>* findings) {
  if (is_judged(scene.profile)) {
    if (!has_owners(*findings, scene)) find_lost(scene, FindingKind::kSmallNeverFreed, findings);
    return;
  }
  if (!is_exited_run(scene.profile) || !scene.profile.merged.empty()) return;
  const Leftovers leftovers(scene);
  for (uint32_t place = 0; place < scene.places.size(); ++place) {
    Kept kept;
    Kept some;  // also from stacks that free some of their blocks, for example on an error path
    for (const uint32_t index : scene.places[place].sites) {
      const Site& site = scene.device.sites[index];
      if (!is_kept_small(site)) continue;
      some.add(index, site.numbers, kShutDownBlocks);
      if (keeps_nearly_all(site.numbers)) kept.add(index, site.numbers, kSmallNeverFreedBlocks);
    }
    if (some.blocks == 0) continue;
    if (leftovers.has_leaked(scene.places[place], some)) {
      if (!grows(*findings, scene, scene.places[place]))
        findings->push_back(finish(scene, FindingKind::kSmallNeverFreed, place, some, true));
      continue;
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
