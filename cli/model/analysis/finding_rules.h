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
  uint64_t imports_end_ns = 0;  // see imports_end_ns()
};

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * 1024;

// Growth: the place gains in each quarter of the time from its beginning to the end of the work.
inline constexpr size_t kGrowthMoments = 8;
inline constexpr uint64_t kGrowthBytes = 256 * kKiB;
inline constexpr uint64_t kGrowthPercent = 1;  // of the peak
inline constexpr uint64_t kGrowthBlocks = 32;  // fewer are a container, not a leak

// Where a program frees most of what it has as it exits, what stays is a leak by contrast.
inline constexpr uint64_t kShutDownLeftPercent = 30;  // of what was live in the last tenth of the run are left at most
inline constexpr uint64_t kShutDownOfLeftPercent = 25;  // of that are the place's, or more
inline constexpr uint64_t kOthersLeftPercent = 5;       // of what others had at the peak, where all is one place's
inline constexpr uint64_t kShutDownLeftBytes = 64 * kKiB;
inline constexpr uint64_t kShutDownBlocks = 32;    // of one stack
inline constexpr uint64_t kShutDownPartOfRun = 8;  // made over so large a part of the run, or a larger one

// Large blocks never freed.
inline constexpr uint64_t kNeverFreedEachBytes = 64 * kKiB;
inline constexpr uint64_t kNeverFreedBytes = kMiB;
inline constexpr uint64_t kNeverFreedBlocks = 4;  // of one stack

// Small blocks never freed: of stacks that left nearly all that they made.
inline constexpr uint64_t kSmallNeverFreedBytes = kMiB;
inline constexpr uint64_t kSmallNeverFreedBlocks = 1'000;       // of one stack
inline constexpr uint64_t kSmallNeverFreedPercent = 5;          // of the peak
inline constexpr uint64_t kSmallNeverFreedOfStackPercent = 90;  // of the blocks that the stack made
inline constexpr uint64_t kSmallNeverFreedPartOfRun = 8;        // made over so large a part of the run, or a larger one
inline constexpr uint64_t kSmallNeverFreedEndNs = 20'000'000;   // what the end of a process takes on a busy machine

// Lost, where that was judged.
inline constexpr uint64_t kLostBytes = 64 * kKiB;

// A peak of the start: reached in the first quarter of the run, and at most half of it from 40 % of the run on.
inline constexpr uint64_t kStartPeakBytes = 4 * kMiB;
inline constexpr uint64_t kStartPeakByPercent = 25;
inline constexpr uint64_t kStartPeakOverPercent = 40;
inline constexpr uint64_t kStartPeakLaterPercent = 50;

// A spike: for so short a part of the work the device has more than half of its peak, and before and after it has not.
// What it takes is measured from foot to foot, where that is as short, or where it is built up for longer and goes at
// once.
inline constexpr uint64_t kSpikeBytes = 4 * kMiB;
inline constexpr uint64_t kSpikeOverPercent = 40;
inline constexpr uint64_t kSpikeFootPercent = 80;
inline constexpr uint64_t kSpikeFallPercent = 10;
inline constexpr uint64_t kSpikeElsewherePercent = 60;  // of the peak the rest of the run has at most

// What passes: of one place, or of one function and what it calls.
inline constexpr uint64_t kCausePercent = 90;
inline constexpr uint64_t kCauseLinePercent = 5;  // of that a line has that is named

// A backlog: what a place holds rises for so long a part of the run, and then falls, while blocks pass through it.
inline constexpr uint64_t kBacklogBytes = 4 * kMiB;
inline constexpr uint64_t kBacklogPercent = 33;      // of the peak
inline constexpr uint64_t kBacklogBlocks = 100;      // at the peak, and as many again over the run
inline constexpr uint64_t kBacklogRisePercent = 20;  // of the run, from a tenth of its largest to nine tenths
inline constexpr uint64_t kBacklogFallPercent = 10;  // of the run, from nine tenths to a tenth
inline constexpr uint64_t kBacklogBackPercent = 20;  // of its largest, the most that it turns back in between

// Fragmentation: memory of the heap that stays resident and unused to the end of the run, for so much of the run.
inline constexpr uint64_t kFragmentationBytes = 8 * kMiB;
inline constexpr uint64_t kFragmentationPercent = 33;  // of what is resident of the heap
inline constexpr uint64_t kFragmentationOverPercent = 10;
inline constexpr uint64_t kFragmentationPieceBytes = kMiB;  // of pages without a block: smaller ones are pinned

// Untouched: pages of a place's large blocks that were never used.
inline constexpr uint64_t kUntouchedBytes = 8 * kMiB;
inline constexpr uint64_t kUntouchedPercent = 50;  // of these blocks

// Copying: of all bytes allocated.
inline constexpr uint64_t kCopiesBytes = 4 * kMiB;
inline constexpr uint64_t kCopiesPercent = 5;

// Old and new block at once, twins and whole files: of the peak.
inline constexpr uint64_t kTwiceBytes = kMiB;
inline constexpr uint64_t kTwicePercent = 5;
inline constexpr uint64_t kTwinBytes = 64 * kKiB;
inline constexpr uint64_t kSeriesBlocks = 8;  // of doubling sizes, which need no name of a function

// Blocks of one size, again and again.
inline constexpr uint64_t kChurnEachBytes = 64;  // smaller ones are a storm
inline constexpr uint64_t kChurnBlocks = 10'000;
inline constexpr uint64_t kChurnFewerBlocks = 1'000;      // of a device, or large: the kernel clears each page again
inline constexpr uint64_t kChurnLargeBytes = 128 * kKiB;  // from there on glibc maps a block and unmaps it again
inline constexpr uint64_t kChurnPercent = 5;              // of all allocations
inline constexpr uint64_t kChurnBytesPercent = 25;        // or of all bytes
inline constexpr uint64_t kChurnLiveShare = 1'000;        // alive at once is at most one of so many

// Tiny blocks.
inline constexpr uint64_t kStormEachBytes = 64;
inline constexpr uint64_t kStormBlocks = 250'000;
inline constexpr uint64_t kStormPercent = 10;  // of all allocations

// Whether it is known what the device's places held over the run, and the run is long enough to say so.
bool has_moments(const Profile& profile, const Device& device);
// Of the first device: when Python had imported what the program begins with; 0: there is no such start. Modules that
// are imported after a pause, or once the program holds a twentieth of the peak beside them, are part of the work.
uint64_t imports_end_ns(const FindingScene& scene);
// When the device began its fall before an exit that frees half of it or more, within the last tenth of the run; else
// the end of the run.
uint64_t drain_start_ns(const Profile& profile, const Device& device);
// Whether the program came to its own end.
inline bool is_exited_run(const Profile& profile) { return profile.run.end.kind == EndKind::kExited; }
// Whether an exit came that frees nearly all.
bool has_shut_down(const Profile& profile, const Device& device);
// Whether part is at least so many percent of whole.
bool is_share(Ratio ratio, uint64_t percent);

// What a place held at the device's bounds (stays.h: exactly), or at its moments, and at the end, where that is what
// leaked.
struct LivePoint {
  uint64_t at_ns = 0;
  uint64_t bytes = 0;
};
std::vector<LivePoint> live_series(const FindingScene& scene, const Place& place);
// The live bytes at any time: between two points of the series in proportion.
double bytes_at(const std::vector<LivePoint>& series, double at_ns);

// Begins a finding: where it is, and who calls there, by weight.
Finding start_finding(const FindingScene& scene, FindingKind kind, uint32_t place,
                      const std::vector<WeightedSite>& sites);

// What grows: findings_grown.cc. What stays: findings_kept.cc.
void find_growth(const FindingScene& scene, std::vector<Finding>* findings);
void find_never_freed(const FindingScene& scene, std::vector<Finding>* findings);
// pre: find_growth() was asked; what grows is no finding of these two
void find_small_never_freed(const FindingScene& scene, std::vector<Finding>* findings);
// Of both kinds, where it was judged what is lost: findings_lost.cc. False, and none: it is not known what owns half of
// it or more, or that has many small owners.
bool find_lost_by_owner(const FindingScene& scene, std::vector<Finding>* findings);
// Whether it is the growth of this place that was found, in work that is long enough.
bool is_growth_of(const Finding& finding, const FindingScene& scene, const Place& place);
// What goes: findings_started.cc.
void find_start_peak(const FindingScene& scene, std::vector<Finding>* findings);
void find_backlog(const FindingScene& scene, std::vector<Finding>* findings);
// pre: find_backlog() was asked; what is one is no spike
void find_spike(const FindingScene& scene, std::vector<Finding>* findings);
// What goes, and leaves its pages behind.
void find_fragmentation(const FindingScene& scene, std::vector<Finding>* findings);
// What was asked for, and never used.
void find_untouched(const FindingScene& scene, std::vector<Finding>* findings);
// What is copied: findings_copied.cc.
void find_copies(const FindingScene& scene, std::vector<Finding>* findings);
void find_old_and_new(const FindingScene& scene, std::vector<Finding>* findings);
void find_twins(const FindingScene& scene, std::vector<Finding>* findings);
void find_whole_files(const FindingScene& scene, std::vector<Finding>* findings);
// What comes and goes: findings_churned.cc.
void find_churn(const FindingScene& scene, std::vector<Finding>* findings);
void find_storms(const FindingScene& scene, std::vector<Finding>* findings);

}  // namespace heapprof::cli
