// cli/model/analysis/findings.h: places of a profile that look like a well-known problem, found by rules with fixed
// thresholds.
//
// Guarantees
//  - A finding states only what was counted, or what a function on the stack does by contract
//    (cli/model/analysis/copy_frames.h).
//  - Findings are ordered by what a developer would fix first (FindingRank), then by cost in bytes.
//  - A place has the same id in every run of the program: from rule, device, function and file, without lines and
//    addresses.
//  - Findings do not include suppressed leaks (Site::suppressed_by).
// Not provided: proof. A program that builds a table until it ends looks like one that leaks. The thresholds are those
//           of man/heapprof-report.1, chosen so that programs without problems have no findings.
// Cost:     linear in nodes and sites, twice that of a report.
#pragma once

#include "cli/base/units.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class FindingKind {
  kGrowth,
  kNeverFreed,
  kSmallNeverFreed,
  kStartPeak,
  kSpike,
  kBacklog,
  kCopies,
  kOldAndNew,
  kTwins,
  kWholeFile,
  kChurn,
  kStorm,
  kFragmentation,
  kUntouched
};

enum class ShareOf { kPeak, kTotalBytes, kAllocations, kResident };

struct Finding {
  FindingKind kind = FindingKind::kGrowth;
  std::string id;  // "1f3a9c02": from its device and place
  uint32_t device = 0;
  uint32_t frame = 0;  // of the place; meaningless if has_frame is false
  bool has_frame = false;
  // Start-up peak, spike: if the memory comes from several lines of a function, the frames of its other lines, the
  // largest first.
  std::vector<uint32_t> other_lines;
  CallerChain callers;
  uint32_t only_caller = kNoModule;  // the one of several callers of the place that has all of the cost
  uint64_t cost_bytes = 0;           // by kind: grown, never freed, copied, allocated for nothing
  uint64_t cost_blocks = 0;
  ShareOf share_of = ShareOf::kPeak;
  Ratio share;
  uint64_t each_bytes = 0;           // size of a block; the mean where they differ
  uint64_t over_ns = 0;              // growth, never freed: the time over which the cost arose; spike: its duration
  uint64_t all_blocks = 0;           // small blocks never freed: all that the stacks allocated
  uint64_t at_peak_bytes = 0;        // start-up peak, spike: the place's live bytes then; untouched: in large blocks
  bool is_at_least = false;          // start-up peak, spike: the cost is a lower bound
  uint64_t seen_ns = 0;              // untouched: when it was measured
  uint64_t from_ns = 0;              // fragmentation: since when; start-up peak: from then on it had at most …
  uint64_t later_bytes = 0;          // … so much; spike: before and after it
  uint64_t without_bytes = 0;        // spike: about the device's peak without its cost
  uint64_t most_blocks = 0;          // churn: the most live at once
  uint64_t temporary_blocks = 0;     // storm
  uint64_t older_frees = 0;          // growth: of blocks from before the recording began, whose sizes are unknown
  bool is_left = false;              // growth: nearly all of it was live at exit
  bool is_brief = false;             // growth: in work shorter than kGrowthRunNs, or of fewer than kGrowthBlocks
  bool is_of_tensors = false;        // growth: PyTorch allocated it
  uint64_t lifetime_ns = 0;          // backlog: of a block, on average
  bool is_by_contrast = false;       // never freed: nearly everything else was freed
  bool is_lost = false;              // never freed: unreachable at exit (run --leak-check)
  bool is_estimate = false;          // copies: what growing containers copied is half of what they allocated
  bool is_by_sizes = false;          // old and new: no function on the stack grows a container; twins: only a
                                     // function's name says that it copies
  bool is_concatenation = false;     // copies: strings joined with +, each a new one
  std::string memory_name;           // the program's own, of all blocks of the place; empty: no such name
  std::string held_by;               // what keeps at least half of it reachable (holder_words()); empty: unknown
  uint32_t other_frame = kNoModule;  // twins: frame of the original's place; kNoModule: it has none
  uint64_t empty_bytes = 0;          // fragmentation: the part of the cost in pages without a block
  bool is_pinned = false;            // fragmentation: blocks are scattered over it; else it has large empty pieces

  // Lost memory (is_lost), if its owners are known (run --leak-check).
  uint64_t owners = 0;                 // blocks, or cycles; 0: unknown
  bool is_cycle = false;               // the owners are cycles of blocks that point to each other
  std::vector<uint32_t> cycle_frames;  // the cycle's other places besides `frame`; kNoModule: a stack without a frame
  bool is_counted = false;             // the owners are reference-counted (std::shared_ptr, Rc)
};

// The order of findings: memory that is lost or grows without end; freed memory that stays resident because other
// blocks pin it; causes of the peak; freed memory that the allocator retains; memory that is small compared with the
// peak; findings that cost time and no memory.
enum class FindingRank { kLost, kUnreturned, kPeak, kUntrimmed, kSmall, kTime };
FindingRank rank_of(const Profile& profile, const Finding& finding);
// The time that a finding costs, estimated from the time of an allocation and of a copied byte.
uint64_t estimated_ns(const Finding& finding);

// The shortest run for a rule about live bytes over time. Growth needs a longer run, because in a short one memory that
// grows to the end may be data that is being loaded. The other shapes are clear in a short run, too.
inline constexpr uint64_t kGrowthRunNs = 1'000'000'000;
inline constexpr uint64_t kShapeRunNs = 100'000'000;
constexpr uint64_t least_run_ns(FindingKind kind) { return kind == FindingKind::kGrowth ? kGrowthRunNs : kShapeRunNs; }

// The kind's name in output: "growth", "never-freed" …
const char* finding_name(FindingKind kind);
// What a rule needs but the profile does not have.
enum class Lack {
  kOneRun,       // a single run: the profile is a sum of runs without a common clock
  kTime,         // a run of at least least_run_ns()
  kMoments,      // the sites' live bytes over the run
  kHostMoments,  // kMoments is missing for some devices only
  kEnd,          // an exit by the program itself
  kEveryBlock,   // a profile that is complete and not sampled
  kNames         // of functions
};
struct Unasked {
  FindingKind kind = FindingKind::kGrowth;
  std::string devices;  // "cuda:0, pinned", for which it was not applied; empty: for all devices
  Lack lack = Lack::kTime;

  bool operator==(const Unasked&) const = default;
};
// The rules that could not be applied to the device. An empty name stands for all devices.
std::vector<Unasked> find_unasked(const Profile& profile, std::string_view device);
// Whether rules can be applied at all: only heapprof's own profiles have the data.
bool can_have_findings(const Profile& profile);

// The findings of all devices. pre: can_have_findings(profile); `tree` is the profile's
// brief_growth: receives the kGrowth findings in work shorter than kGrowthRunNs, which are not reported as problems.
// May be null.
std::vector<Finding> find_findings(const Profile& profile, const PlaceTree& tree,
                                   std::vector<Finding>* brief_growth = nullptr);

}  // namespace heapprof::cli
