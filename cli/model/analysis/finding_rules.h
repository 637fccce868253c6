// cli/model/analysis/finding_rules.h: the rules of cli/model/analysis/findings.h, one file per family, and their
// thresholds (man/heapprof-report.1).
//
// A rule examines the shape of single sites, but the amounts of whole places. So a cost is found even if it is spread
// over recursion or many callers, or if a wrapper around malloc has other uses too.
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

// Growth: the place grows in each quarter of the time from its beginning to the end of the work.
inline constexpr size_t kGrowthMoments = 8;
inline constexpr uint64_t kGrowthBytes = 256 * kKiB;
inline constexpr uint64_t kGrowthPercent = 1;  // of the peak
inline constexpr uint64_t kGrowthBlocks = 32;  // fewer may be a container: a remark, as in a short run

// If a program frees most of its memory as it exits, what remains is a leak by contrast.
inline constexpr uint64_t kShutDownLeftPercent = 30;    // of live bytes in the run's last tenth; at most this is left
inline constexpr uint64_t kShutDownOfLeftPercent = 25;  // the place has at least so much of what is left
inline constexpr uint64_t kOthersLeftPercent = 5;       // the other places left at most so much of their peak memory
inline constexpr uint64_t kShutDownLeftBytes = 64 * kKiB;
inline constexpr uint64_t kShutDownBlocks = 32;    // of one stack
inline constexpr uint64_t kShutDownPartOfRun = 8;  // allocated over at least this fraction of the run

// Large blocks never freed.
inline constexpr uint64_t kNeverFreedEachBytes = 64 * kKiB;
inline constexpr uint64_t kNeverFreedBytes = kMiB;
inline constexpr uint64_t kNeverFreedBlocks = 4;  // of one stack

// Small blocks never freed. Only stacks count that left nearly all of their blocks live.
inline constexpr uint64_t kSmallNeverFreedBytes = kMiB;
inline constexpr uint64_t kSmallNeverFreedBlocks = 1'000;       // of one stack
inline constexpr uint64_t kSmallNeverFreedPercent = 5;          // of the peak
inline constexpr uint64_t kSmallNeverFreedOfStackPercent = 90;  // of the blocks that the stack allocated
inline constexpr uint64_t kSmallNeverFreedPartOfRun = 8;        // allocated over at least this fraction of the run
inline constexpr uint64_t kSmallNeverFreedEndNs = 20'000'000;   // time that a process needs to end, on a busy machine

// Lost memory, if leaks were classified.
inline constexpr uint64_t kLostBytes = 64 * kKiB;

// A start-up peak: reached in the first quarter of the run; at most half of it is live from 40 % of the run on.
inline constexpr uint64_t kStartPeakBytes = 4 * kMiB;
inline constexpr uint64_t kStartPeakByPercent = 25;
inline constexpr uint64_t kStartPeakOverPercent = 40;
inline constexpr uint64_t kStartPeakLaterPercent = 50;
inline constexpr uint64_t kGoesOnBlocks = 32;   // later blocks of a place that works on as it did at the start …
inline constexpr uint64_t kGoesOnPercent = 10;  // … and their least share of the blocks made at the start

// A spike: around the peak, the device has more than half of its peak only for a short part of the work, and at most
// kSpikeElsewherePercent of it before and after. The spike extends from foot to foot if that is as short, or if a
// longer build-up ends in a sudden fall; otherwise it is only the time above half of the peak.
inline constexpr uint64_t kSpikeBytes = 4 * kMiB;
inline constexpr uint64_t kSpikeOverPercent = 40;
inline constexpr uint64_t kSpikeFootPercent = 80;
inline constexpr uint64_t kSpikeFallPercent = 10;
inline constexpr uint64_t kSpikeElsewherePercent = 60;  // the rest of the run has at most so much of the peak

// Transient memory, which comes from one place, or from one function and its callees.
inline constexpr uint64_t kCausePercent = 90;
inline constexpr uint64_t kCauseLinePercent = 5;  // of that; a line with less is not named

// A backlog: a place's live bytes rise slowly and then fall, while it keeps allocating and freeing blocks.
inline constexpr uint64_t kBacklogBytes = 4 * kMiB;
inline constexpr uint64_t kBacklogPercent = 33;      // of the peak
inline constexpr uint64_t kBacklogBlocks = 100;      // at the peak, and at least a third more over the run
inline constexpr uint64_t kBacklogRisePercent = 20;  // of the run, from a tenth of its largest to nine tenths
inline constexpr uint64_t kBacklogFallPercent = 10;  // of the run, from nine tenths to a tenth
inline constexpr uint64_t kBacklogBackPercent = 20;  // of its maximum; in between it falls back by no more than this
// Blocks of the last third of the rise live so many times as long as those of the first. Measured: 2.9 (stream) and 3.7
// to 4.0 (clicks) in backlogs of tests/judgement, 0.9 to 1.1 for sessions and particles that live for a fixed time, 1.4
// for threads that end one by one.
inline constexpr double kBacklogWaitFactor = 2;

// Fragmentation: heap memory that stays resident and unused for a part of the run, up to its end.
inline constexpr uint64_t kFragmentationBytes = 8 * kMiB;
inline constexpr uint64_t kFragmentationPercent = 33;  // of the heap's resident pages
inline constexpr uint64_t kFragmentationOverPercent = 10;
inline constexpr uint64_t kFragmentationPieceBytes =
    kMiB;  // mean piece without blocks; if pieces are smaller, a few blocks pin them

// Untouched: pages of a place's large blocks that were never used.
inline constexpr uint64_t kUntouchedBytes = 8 * kMiB;
inline constexpr uint64_t kUntouchedPercent = 50;  // of these blocks

// Copying; the percentage is of all bytes allocated.
inline constexpr uint64_t kCopiesBytes = 4 * kMiB;
inline constexpr uint64_t kCopiesPercent = 5;

// Old and new block at once, duplicates (twins) and whole files; the percentage is of the peak.
inline constexpr uint64_t kTwiceBytes = kMiB;
inline constexpr uint64_t kTwicePercent = 5;
inline constexpr uint64_t kTwinBytes = 64 * kKiB;
inline constexpr uint64_t kSeriesBlocks = 8;  // a series of so many doubling sizes needs no function name as evidence

// Churn: blocks of one size are allocated and freed again and again.
inline constexpr uint64_t kChurnEachBytes = 64;  // blocks of at most this size are a storm
inline constexpr uint64_t kChurnBlocks = 10'000;
inline constexpr uint64_t kChurnFewerBlocks = 1'000;      // of a device, or large: the kernel clears their pages again
inline constexpr uint64_t kChurnLargeBytes = 128 * kKiB;  // from this size on glibc maps each block and unmaps it again
inline constexpr uint64_t kChurnPercent = 5;              // of all allocations
inline constexpr uint64_t kChurnBytesPercent = 25;        // or of all bytes
inline constexpr uint64_t kChurnLiveShare = 1'000;        // at most one of so many is live at once

// Tiny blocks.
inline constexpr uint64_t kStormEachBytes = 64;
inline constexpr uint64_t kStormBlocks = 250'000;
inline constexpr uint64_t kStormPercent = 10;  // of all allocations

// Whether the live bytes of the device's places over time are known, and the run is long enough to judge them.
bool has_moments(const Profile& profile, const Device& device);
// When Python had imported the program's first modules, according to the first device; 0 if the run has no such start.
// Modules count as work if they are imported after a pause, or after the program's other memory has reached a twentieth
// of the peak.
uint64_t imports_end_ns(const FindingScene& scene);
// When the device's live bytes began to fall before an exit that frees at least half of them, within the last tenth of
// the run; else the end of the run.
uint64_t drain_start_ns(const Profile& profile, const Device& device);
// Whether the program exited by itself.
inline bool is_exited_run(const Profile& profile) { return profile.run.end.kind == EndKind::kExited; }
// Whether the program freed most of its memory before it exited.
bool has_shut_down(const Profile& profile, const Device& device);
// Whether the ratio's part is at least so many percent of its whole.
bool is_share(Ratio ratio, uint64_t percent);

// A place's live bytes at the device's bucket boundaries (exact, see stays.h), or else at its moments and at the end,
// where they are the leaked bytes.
struct LivePoint {
  uint64_t at_ns = 0;
  uint64_t bytes = 0;
};
std::vector<LivePoint> live_series(const FindingScene& scene, const Place& place);
// The live bytes at any time, interpolated linearly between two points of the series.
double bytes_at(const std::vector<LivePoint>& series, double at_ns);

// Begins a finding with its place and the callers, by weight.
Finding start_finding(const FindingScene& scene, FindingKind kind, uint32_t place,
                      const std::vector<WeightedSite>& sites);

// Memory that grows (findings_grown.cc), and memory that is never freed (findings_kept.cc).
void find_growth(const FindingScene& scene, std::vector<Finding>* findings);
void find_never_freed(const FindingScene& scene, std::vector<Finding>* findings);
// pre: find_growth() was called. A place that it found gets neither of these two findings.
void find_small_never_freed(const FindingScene& scene, std::vector<Finding>* findings);
// If leaks were classified, adds both kinds of findings by owner (findings_lost.cc). Returns false and adds nothing if
// known owners that each own at least kLostBytes account for less than half of the lost memory.
bool find_lost_by_owner(const FindingScene& scene, std::vector<Finding>* findings);
// Whether the finding is the growth of this place, in work that is long enough.
bool is_growth_of(const Finding& finding, const FindingScene& scene, const Place& place);
// Memory that is needed for a part of the run only (findings_started.cc).
void find_start_peak(const FindingScene& scene, std::vector<Finding>* findings);
void find_backlog(const FindingScene& scene, std::vector<Finding>* findings);
void find_spike(const FindingScene& scene, std::vector<Finding>* findings);
// Memory that was freed, but whose pages stay resident.
void find_fragmentation(const FindingScene& scene, std::vector<Finding>* findings);
// Memory that was allocated, but never used.
void find_untouched(const FindingScene& scene, std::vector<Finding>* findings);
// Memory that is copied (findings_copied.cc).
void find_copies(const FindingScene& scene, std::vector<Finding>* findings);
void find_old_and_new(const FindingScene& scene, std::vector<Finding>* findings);
void find_twins(const FindingScene& scene, std::vector<Finding>* findings);
void find_whole_files(const FindingScene& scene, std::vector<Finding>* findings);
// Short-lived memory (findings_churned.cc).
void find_churn(const FindingScene& scene, std::vector<Finding>* findings);
void find_storms(const FindingScene& scene, std::vector<Finding>* findings);

}  // namespace heapprof::cli
