// cli/model/analysis/finding_rules.h: the rules behind cli/model/analysis/findings.h, a family a file, and their
// thresholds (man/heapprof-report.1).
//
// A rule looks at the shape of single sites, and at amounts of whole places: so neither recursion nor many callers hide
// a cost, and what a wrapper around malloc is used for otherwise does not get in the way.
#pragma once

#include "cli/model/analysis/findings.h"

namespace heapprof::cli {

struct FindingScene {
  const Profile& profile;
  const PlaceTree& tree;
  uint32_t device_number;
  const Device& device;
  const std::vector<Place>& places;
  std::vector<uint32_t> place_of_site;
};

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * 1024;

// Growth: the place gains in each quarter of the run.
inline constexpr uint64_t kGrowthRunNs = 1'000'000'000;  // shorter runs only begin
inline constexpr size_t kGrowthMoments = 8;
inline constexpr uint64_t kGrowthBytes = 256 * kKiB;
inline constexpr uint64_t kGrowthPercent = 1;  // of the peak
inline constexpr uint64_t kGrowthBlocks = 32;  // fewer are a container, not a leak

// Large blocks never freed.
inline constexpr uint64_t kNeverFreedEachBytes = 64 * kKiB;
inline constexpr uint64_t kNeverFreedBytes = kMiB;
inline constexpr uint64_t kNeverFreedBlocks = 4;

// Copying: of all bytes allocated.
inline constexpr uint64_t kCopiesBytes = 4 * kMiB;
inline constexpr uint64_t kCopiesPercent = 5;

// Twins and whole files: of the peak.
inline constexpr uint64_t kTwiceBytes = kMiB;
inline constexpr uint64_t kTwicePercent = 5;
inline constexpr uint64_t kTwinBytes = 64 * kKiB;

// Blocks of one size, again and again.
inline constexpr uint64_t kChurnEachBytes = 64;  // smaller ones are a storm
inline constexpr uint64_t kChurnBlocks = 10'000;
inline constexpr uint64_t kChurnDeviceBlocks = 1'000;  // what a driver does takes longer
inline constexpr uint64_t kChurnPercent = 5;           // of all allocations
inline constexpr uint64_t kChurnBytesPercent = 25;     // or of all bytes
inline constexpr uint64_t kChurnLiveShare = 1'000;     // alive at once is at most one of so many

// Tiny blocks.
inline constexpr uint64_t kStormEachBytes = 64;
inline constexpr uint64_t kStormBlocks = 250'000;
inline constexpr uint64_t kStormPercent = 10;  // of all allocations

// Whether part is at least so many percent of whole.
bool is_share(Ratio ratio, uint64_t percent);

// Begins a finding: where it is, and who calls there, by weight.
Finding start_finding(const FindingScene& scene, FindingKind kind, uint32_t place,
                      const std::vector<WeightedSite>& sites);

// What stays: findings_kept.cc.
void find_growth(const FindingScene& scene, std::vector<Finding>* findings);
void find_never_freed(const FindingScene& scene, std::vector<Finding>* findings);
// What is copied: findings_copied.cc.
void find_copies(const FindingScene& scene, std::vector<Finding>* findings);
void find_twins(const FindingScene& scene, std::vector<Finding>* findings);
void find_whole_files(const FindingScene& scene, std::vector<Finding>* findings);
// What comes and goes: findings_churned.cc.
void find_churn(const FindingScene& scene, std::vector<Finding>* findings);
void find_storms(const FindingScene& scene, std::vector<Finding>* findings);

}  // namespace heapprof::cli
