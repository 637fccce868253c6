// cli/model/analysis/findings_copied.cc: copied memory: containers that grow step by step, values duplicated at the
// peak, whole files.
//
// The bytes that realloc moved were counted. The bytes that a growing std::vector copied were not, but they can be
// estimated: _M_realloc_insert allocates twice the size of what it then copies, so it copied half of the bytes it
// allocated. (The first block of each copies nothing: a few bytes less.)
//
// A twin is a copy together with its original: a copying function is on the stack, and another place has a block of the
// same size, both live at the peak. Equal sizes alone prove nothing: matrices of one shape have one size. If only a
// name says that a function copies, the finding says "may".
#include "cli/base/saturating.h"
#include "cli/model/analysis/copy_frames.h"
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/profile/site_fields.h"

#include <algorithm>
#include <map>

namespace heapprof::cli {
namespace {

// Answers a question about frames. Each answer is computed once, because many stacks share a frame.
enum class Ask { kCopying, kNamedCopy, kGrowing, kMakingRoom, kConcatenating, kReadingWhole };

class FrameAnswers {
 public:
  FrameAnswers(const FindingScene& scene, Ask ask) : scene_(scene), ask_(ask), answers_(scene.profile.frames.size()) {}

  // Checks the frames from the allocation to the site's place, including the place itself.
  bool has(uint32_t node) {
    const uint32_t place = scene_.tree.place_node[node];
    for (uint32_t at = node; at != 0; at = scene_.profile.nodes[at].parent) {
      if (answer(at)) return true;
      if (at == place) return false;
    }
    return false;
  }

 private:
  bool answer(uint32_t node) {
    const uint32_t number = scene_.profile.nodes[node].frame;
    char& known = answers_[number];
    if (known == 0) known = ask(scene_.profile.frames[number].function) ? 1 : 2;
    if (known == 2 || ask_ != Ask::kGrowing) return known == 1;
    const uint32_t outer = scene_.profile.nodes[node].parent;  // for some functions it depends on the caller
    if (outer == 0) return false;
    return is_growing(scene_.profile.frames[number].function,
                      scene_.profile.frames[scene_.profile.nodes[outer].frame].function);
  }

  bool ask(const std::string& function) const {
    switch (ask_) {
      case Ask::kCopying: return is_copying(function);
      case Ask::kNamedCopy: return is_named_copy(function);
      case Ask::kGrowing: return may_be_growing(function);
      case Ask::kMakingRoom: return makes_room(function);
      case Ask::kConcatenating: return is_concatenating(function);
      case Ask::kReadingWhole: return is_reading_whole(function);
    }
    return false;
  }

  const FindingScene& scene_;
  Ask ask_;
  std::vector<char> answers_;  // by frame; 0: not computed yet
};

struct CopiedSum {
  std::vector<WeightedSite> sites;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t known_bytes = 0;  // twins: by functions that are known to copy
  bool is_estimate = false;
  bool is_by_sizes = false;
  uint64_t concatenated_bytes = 0;
  uint32_t other_site = kNoModule;
  uint64_t other_bytes = 0;

  void add(uint32_t site, uint64_t more_bytes, uint64_t more_blocks) {
    sites.push_back({site, more_bytes});
    bytes = add_saturating(bytes, more_bytes);
    blocks = add_saturating(blocks, more_blocks);
  }
};
using SumsByPlace = std::map<uint32_t, CopiedSum>;

Finding finish(const FindingScene& scene, FindingKind kind, uint32_t place, const CopiedSum& sum, ShareOf share_of) {
  Finding finding = start_finding(scene, kind, place, sum.sites);
  finding.cost_bytes = sum.bytes;
  finding.cost_blocks = sum.blocks;
  finding.each_bytes = sum.blocks == 0 ? 0 : sum.bytes / sum.blocks;
  finding.is_estimate = sum.is_estimate;
  finding.is_by_sizes = sum.is_by_sizes;
  finding.is_concatenation = sum.concatenated_bytes > sum.bytes / 2;
  finding.share_of = share_of;
  const DeviceTotals& totals = scene.device.totals;
  finding.share = {sum.bytes, share_of == ShareOf::kPeak ? totals.peak_bytes : totals.total_bytes};
  return finding;
}

// What a site had at the peak.
struct PeakSize {
  uint64_t each_bytes = 0;  // 0: they differ, or no block
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

PeakSize peak_size(const Site& site) {
  const SiteNumbers& n = site.numbers;
  PeakSize size{0, n.peak_bytes, n.peak_blocks};
  if (n.peak_blocks > 0 && n.peak_bytes % n.peak_blocks == 0) size.each_bytes = n.peak_bytes / n.peak_blocks;
  return size;
}

// The size of a growing container's old block that was still live at the peak, when the new one existed; 0 if that is
// not proven. All blocks that the stack ever made must be one series of doubling sizes (a string's have a byte more
// each). Then the two blocks that were live at the peak, the largest and the one of half its size, belong to one
// container. Two containers of these sizes would have made two series.
uint64_t old_block_at_peak(const Site& site) {
  const SiteNumbers& n = site.numbers;
  if (site.grouped_stacks > 0 || !has_sizes(n) || n.total_blocks > 62 || n.total_blocks < 2 || n.peak_blocks != 2)
    return 0;
  for (const uint64_t extra : {uint64_t{0}, uint64_t{1}}) {
    uint64_t each = n.smallest_bytes - std::min(n.smallest_bytes, extra);
    if (each == 0 || each > (UINT64_MAX >> 2 >> n.total_blocks)) continue;
    uint64_t sum = 0;
    for (uint64_t i = 0; i + 1 < n.total_blocks; ++i, each *= 2) sum += each + extra;
    sum += each + extra;
    const bool is_series = each + extra == n.largest_bytes && sum == n.total_bytes;
    if (is_series && n.peak_bytes == n.largest_bytes + each / 2 + extra) return each / 2 + extra;
  }
  return 0;
}

// Whether old and new blocks of the series were live together for longer than copies take. Then both are in use, as
// with the levels of an image or tables of doubling size. A container's old block is freed after the copy, so the sum
// of all lifetimes is hardly longer than the series itself. The begin and end of the series are known only by time
// bucket. So the overlap is at least the sum of the lifetimes minus the time between these buckets' outer boundaries.
bool is_used_beside_new(const FindingScene& scene, const Site& site) {
  constexpr uint64_t kCopyStartNs = 5'000'000;
  constexpr uint64_t kUsedBesidePercent = 20;  // of the lifetimes; if two blocks are always in use, it is near half
  constexpr uint64_t kCopyByteNs = 5;          // 200 MB/s, with page faults, on a busy machine
  const std::vector<uint64_t>& bounds_ns = scene.device.bounds_ns;
  if (site.stays.empty() || bounds_ns.empty()) return false;
  uint32_t begin = UINT32_MAX;
  uint32_t end = 0;
  for (const Stay& stay : site.stays) {
    begin = std::min(begin, stay.begin);
    end = std::max(end, stay.end);
  }
  const auto bound = [&](size_t at) { return bounds_ns[std::min(at, bounds_ns.size() - 1)]; };
  const uint64_t series_ns = bound(end + size_t{1}) - bound(begin);
  const uint64_t copy_ns = add_saturating(kCopyStartNs, std::min(site.numbers.total_bytes, kMiB * kMiB) * kCopyByteNs);
  const uint64_t overlap_ns = site.numbers.lifetime_ns - std::min(site.numbers.lifetime_ns, series_ns);
  return overlap_ns > copy_ns && is_share({overlap_ns, site.numbers.lifetime_ns}, kUsedBesidePercent);
}

}  // namespace

void find_copies(const FindingScene& scene, std::vector<Finding>* findings) {
  FrameAnswers growing(scene, Ask::kGrowing);
  FrameAnswers concatenating(scene, Ask::kConcatenating);
  SumsByPlace sums;
  for (uint32_t i = 0; i < scene.device.sites.size(); ++i) {
    const Site& site = scene.device.sites[i];
    if (site.grouped_stacks > 0) continue;
    CopiedSum* sum = nullptr;
    if (site.numbers.moved_bytes > 0) {
      sum = &sums[scene.place_of_site[i]];
      sum->add(i, site.numbers.moved_bytes, site.numbers.resized_blocks);
    } else if (growing.has(site.node)) {
      sum = &sums[scene.place_of_site[i]];
      sum->add(i, site.numbers.total_bytes / 2, site.numbers.total_blocks);
      sum->is_estimate = true;
      if (concatenating.has(site.node))
        sum->concatenated_bytes = add_saturating(sum->concatenated_bytes, site.numbers.total_bytes / 2);
    }
  }
  for (const auto& [place, sum] : sums) {
    if (sum.bytes < kCopiesBytes) continue;
    Finding finding = finish(scene, FindingKind::kCopies, place, sum, ShareOf::kTotalBytes);
    if (is_share(finding.share, kCopiesPercent)) findings->push_back(std::move(finding));
  }
}

void find_old_and_new(const FindingScene& scene, std::vector<Finding>* findings) {
  FrameAnswers growing(scene, Ask::kMakingRoom);
  SumsByPlace sums;
  for (uint32_t i = 0; i < scene.device.sites.size(); ++i) {
    const Site& site = scene.device.sites[i];
    const uint64_t old_bytes = old_block_at_peak(site);
    if (old_bytes == 0) continue;
    const bool is_named = growing.has(site.node) || site.numbers.resized_blocks > 0;
    const bool is_long = site.numbers.total_blocks >= kSeriesBlocks;  // so long a series is not a coincidence
    if (!is_named && (!is_long || is_used_beside_new(scene, site))) continue;
    CopiedSum& sum = sums[scene.place_of_site[i]];
    sum.add(i, old_bytes, 1);
    sum.is_by_sizes = sum.is_by_sizes || !is_named;
  }
  for (const auto& [place, sum] : sums) {
    if (sum.bytes < kTwiceBytes) continue;
    Finding finding = finish(scene, FindingKind::kOldAndNew, place, sum, ShareOf::kPeak);
    if (is_share(finding.share, kTwicePercent)) findings->push_back(std::move(finding));
  }
}

void find_twins(const FindingScene& scene, std::vector<Finding>* findings) {
  FrameAnswers copying(scene, Ask::kCopying);
  FrameAnswers named(scene, Ask::kNamedCopy);
  const std::vector<Site>& sites = scene.device.sites;
  std::vector<uint32_t> copies;
  // The sites that may be originals, by size of a block, and by sum; the largest site first.
  std::map<uint64_t, std::vector<uint32_t>> by_each;
  std::map<std::pair<uint64_t, uint64_t>, std::vector<uint32_t>> by_sum;
  for (uint32_t i = 0; i < sites.size(); ++i) {
    const PeakSize size = peak_size(sites[i]);
    if (size.bytes < kTwinBytes || sites[i].grouped_stacks > 0) continue;
    if (copying.has(sites[i].node) || named.has(sites[i].node)) copies.push_back(i);
    if (size.each_bytes >= kTwinBytes) by_each[size.each_bytes].push_back(i);
    by_sum[{size.bytes, size.blocks}].push_back(i);
  }
  // The original must be at another place: two blocks from one place are not a copy and its original.
  const auto other_than = [&](uint32_t copy, const std::vector<uint32_t>& candidates) {
    for (const uint32_t candidate : candidates) {
      if (scene.place_of_site[candidate] != scene.place_of_site[copy]) return candidate;
    }
    return kNoModule;
  };
  SumsByPlace sums;
  for (const uint32_t copy : copies) {
    const PeakSize size = peak_size(sites[copy]);
    uint32_t original = other_than(copy, by_sum[{size.bytes, size.blocks}]);
    if (original == kNoModule && size.each_bytes >= kTwinBytes) original = other_than(copy, by_each[size.each_bytes]);
    if (original == kNoModule) continue;
    CopiedSum& sum = sums[scene.place_of_site[copy]];
    sum.add(copy, size.bytes, size.blocks);
    if (copying.has(sites[copy].node)) sum.known_bytes = add_saturating(sum.known_bytes, size.bytes);
    if (size.bytes <= sum.other_bytes) continue;
    sum.other_bytes = size.bytes;
    sum.other_site = original;
  }
  for (auto& [place, sum] : sums) {
    if (sum.bytes < kTwiceBytes) continue;
    sum.is_by_sizes = sum.known_bytes < sum.bytes / 2;
    Finding finding = finish(scene, FindingKind::kTwins, place, sum, ShareOf::kPeak);
    const Place& other = scene.places[scene.place_of_site[sum.other_site]];
    if (other.has_frame) finding.other_frame = other.frame;
    if (is_share(finding.share, kTwicePercent)) findings->push_back(std::move(finding));
  }
}

void find_whole_files(const FindingScene& scene, std::vector<Finding>* findings) {
  FrameAnswers reading(scene, Ask::kReadingWhole);
  SumsByPlace sums;
  for (uint32_t i = 0; i < scene.device.sites.size(); ++i) {
    const Site& site = scene.device.sites[i];
    if (site.numbers.max_bytes < kTwiceBytes / 16 || site.grouped_stacks > 0 || !reading.has(site.node)) continue;
    sums[scene.place_of_site[i]].add(i, site.numbers.max_bytes, site.numbers.max_blocks);
  }
  for (auto& [place, sum] : sums) {
    sum.bytes = std::min(sum.bytes, scene.device.totals.peak_bytes);  // the sites' maxima may be from different moments
    if (sum.bytes < kTwiceBytes) continue;
    Finding finding = finish(scene, FindingKind::kWholeFile, place, sum, ShareOf::kPeak);
    if (is_share(finding.share, kTwicePercent)) findings->push_back(std::move(finding));
  }
}

}  // namespace heapprof::cli
