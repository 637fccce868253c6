// cli/model/analysis/findings_churned.cc: short-lived memory: blocks of one size again and again, and storms of tiny
// ones.
//
// That all blocks of a site have one size follows from three sums: they are in one size class, their mean is an
// integer, and the blocks live at the site's maximum have the same mean. Ten thousand blocks of different sizes do not
// agree like this by chance.
#include "cli/base/saturating.h"
#include "cli/model/analysis/finding_rules.h"

#include <algorithm>
#include <map>

namespace heapprof::cli {
namespace {

// The size of the site's blocks; 0 if they differ.
uint64_t single_size(const Site& site) {
  const SizedNumbers& n = site.numbers;
  if (n.total_blocks == 0 || n.total_bytes % n.total_blocks != 0) return 0;
  const uint64_t size_bytes = n.total_bytes / n.total_blocks;
  const int bucket = size_bucket(size_bytes);
  if (n.sizes[bucket] != n.total_blocks && n.sizes[bucket_of_coarse(coarse_of_bucket(bucket))] != n.total_blocks)
    return 0;
  uint64_t max_bytes = 0;
  const bool fits = !__builtin_mul_overflow(n.max_blocks, size_bytes, &max_bytes);
  return site.max_is_bound || (fits && max_bytes == n.max_bytes) ? size_bytes : 0;
}

bool is_tiny(const SizedNumbers& n) {
  constexpr int kLast = size_bucket(kStormEachBytes);
  static_assert(size_bucket_most(kLast) == kStormEachBytes && bucket_of_coarse(coarse_of_bucket(kLast)) == kLast);
  uint64_t small = 0;
  for (int bucket = 0; bucket <= kLast; ++bucket) small = add_saturating(small, n.sizes[bucket]);
  return n.total_blocks > 0 && n.total_bytes / n.total_blocks <= kStormEachBytes &&
         is_share({small, n.total_blocks}, 90);
}

struct ChurnedSum {
  std::vector<WeightedSite> sites;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t max_blocks = 0;
  uint64_t temporary_blocks = 0;

  void add(uint32_t index, const SiteNumbers& n) {
    sites.push_back({index, n.total_blocks});
    bytes = add_saturating(bytes, n.total_bytes);
    blocks = add_saturating(blocks, n.total_blocks);
    max_blocks = add_saturating(max_blocks, n.max_blocks);
    temporary_blocks = add_saturating(temporary_blocks, n.temporary_blocks);
  }
};

void fill(const ChurnedSum& sum, const FindingScene& scene, Finding* finding) {
  finding->cost_bytes = sum.bytes;
  finding->cost_blocks = sum.blocks;
  finding->each_bytes = sum.bytes / sum.blocks;
  finding->most_blocks = sum.max_blocks;
  finding->temporary_blocks = sum.temporary_blocks;
  finding->share_of = ShareOf::kAllocations;
  finding->share = {sum.blocks, scene.device.totals.total_blocks};
}

}  // namespace

void find_churn(const FindingScene& scene, std::vector<Finding>* findings) {
  std::map<std::pair<uint32_t, uint64_t>, ChurnedSum> sums;  // by place and size
  for (uint32_t i = 0; i < scene.device.sites.size(); ++i) {
    const Site& site = scene.device.sites[i];
    const uint64_t size_bytes = site.grouped_stacks > 0 ? 0 : single_size(site);
    if (size_bytes > kChurnEachBytes) sums[{scene.place_of_site[i], size_bytes}].add(i, site.numbers);
  }
  const DeviceTotals& totals = scene.device.totals;
  for (const auto& [key, sum] : sums) {
    const bool is_dear = scene.device_number != 0 || key.second >= kChurnLargeBytes;
    if (sum.blocks < (is_dear ? kChurnFewerBlocks : kChurnBlocks)) continue;
    if (sum.max_blocks > std::max<uint64_t>(1, sum.blocks / kChurnLiveShare)) continue;
    const bool is_many = is_share({sum.blocks, totals.total_blocks}, kChurnPercent);
    const bool is_much = is_share({sum.bytes, totals.total_bytes}, kChurnBytesPercent);
    if (!is_many && !is_much) continue;
    Finding finding = start_finding(scene, FindingKind::kChurn, key.first, sum.sites);
    fill(sum, scene, &finding);
    if (!is_many) {
      finding.share_of = ShareOf::kTotalBytes;
      finding.share = {sum.bytes, totals.total_bytes};
    }
    findings->push_back(std::move(finding));
  }
}

void find_storms(const FindingScene& scene, std::vector<Finding>* findings) {
  std::map<uint32_t, ChurnedSum> sums;  // by place
  for (uint32_t i = 0; i < scene.device.sites.size(); ++i) {
    const Site& site = scene.device.sites[i];
    if (is_tiny(site.numbers)) sums[scene.place_of_site[i]].add(i, site.numbers);
  }
  for (const auto& [place, sum] : sums) {
    if (sum.blocks < kStormBlocks) continue;
    if (!is_share({sum.blocks, scene.device.totals.total_blocks}, kStormPercent)) continue;
    Finding finding = start_finding(scene, FindingKind::kStorm, place, sum.sites);
    fill(sum, scene, &finding);
    findings->push_back(std::move(finding));
  }
}

}  // namespace heapprof::cli
