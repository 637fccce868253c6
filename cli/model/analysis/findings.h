// cli/model/analysis/findings.h: places of a profile that look like a well-known problem, found by rules with fixed
// thresholds.
//
// Guarantees
//  - A finding states only what was counted, or what a function on the stack does by contract
//    (cli/model/analysis/copy_frames.h).
//  - The order is by what a developer would fix first (FindingRank), then by cost in bytes.
//  - A place has the same id in every run of the program: from rule, device, function and file, without lines and
//    addresses.
//  - Suppressed leaks (Site::suppressed_by) are in no finding.
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
  // Start-up peak, spike: more frames of the same function, those with most first, if it comes from several lines.
  std::vector<uint32_t> other_lines;
  CallerChain callers;
  uint64_t cost_bytes = 0;  // by kind: grown, never freed, copied, allocated for nothing
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
  uint64_t without_bytes = 0;        // spike: about the device's peak without the place's memory
  uint64_t most_blocks = 0;          // churn: the most live at once
  uint64_t temporary_blocks = 0;     // storm
  bool is_left = false;              // growth: nearly all of it was live at exit
  bool is_brief = false;             // growth: in work that is shorter than kGrowthRunNs
  bool is_of_tensors = false;        // growth: PyTorch allocated it
  uint64_t lifetime_ns = 0;          // backlog: of a block, on average
  bool is_by_contrast = false;       // never freed: nearly everything else was
  bool is_lost = false;              // never freed: unreachable at exit (run --leak-check)
  bool is_estimate = false;          // copies: what growing containers copied is half of what they allocated
  bool is_by_sizes = false;          // old and new: no function on the stack grows a container; twins: only a
                                     // function's name says that it copies
  bool is_concatenation = false;     // copies: strings joined with +, each a new one
  std::string memory_name;           // the program's own, of all blocks of the place; empty: no such name
  std::string held_by;               // what keeps most of it reachable at exit (holder_words()); empty: unknown
  uint32_t other_frame = kNoModule;  // twins: of the original's place; kNoModule: it has none
  uint64_t empty_bytes = 0;          // fragmentation: of the cost, in pages without a block
  bool is_pinned = false;            // fragmentation: blocks lie all over it; else large pieces without blocks

  // Lost, if the owners of the rest are known (run --leak-check).
  uint64_t owners = 0;                 // blocks, or cycles; 0: unknown
  bool is_cycle = false;               // they are cycles of blocks that point to each other …
  std::vector<uint32_t> cycle_frames;  // … of the place and of these; kNoModule: of a stack without a frame
  bool is_counted = false;             // … by reference-counting pointers (std::shared_ptr, Rc)
};

// The order of findings: memory that is lost or grows without end; freed memory that stays resident, pinned by other
// blocks; causes of the peak, and what the allocator retains of it; then what is small compared with the peak; last
// what costs time, and no memory.
enum class FindingRank { kLost, kUnreturned, kPeak, kUntrimmed, kSmall, kTime };
FindingRank rank_of(const Profile& profile, const Finding& finding);
// For findings that cost time: how much, estimated from the time of an allocation and of a copied byte.
uint64_t estimated_ns(const Finding& finding);

// The shortest run for a rule about live bytes over time. In a short run, what grows to the end may be data that is
// being loaded; a spike is one in any run.
inline constexpr uint64_t kGrowthRunNs = 1'000'000'000;
inline constexpr uint64_t kShapeRunNs = 100'000'000;
constexpr uint64_t least_run_ns(FindingKind kind) { return kind == FindingKind::kGrowth ? kGrowthRunNs : kShapeRunNs; }

// Its name in output: "growth", "never-freed" …
const char* finding_name(FindingKind kind);
// What a rule needs, and the profile lacks.
enum class Lack {
  kOneRun,       // it is a sum of runs, whose times and peaks have no common clock
  kTime,         // the run is shorter than least_run_ns()
  kMoments,      // the sites' live bytes over the run
  kHostMoments,  // the same, for some of the devices
  kEnd,          // the program did not exit by itself
  kEveryBlock,   // a profile that is complete and not sampled
  kNames         // of functions
};
struct Unasked {
  FindingKind kind = FindingKind::kGrowth;
  std::string devices;  // "cuda:0, pinned"; empty: of no device
  Lack lack = Lack::kTime;

  bool operator==(const Unasked&) const = default;
};
// The rules that could not be applied to the device; with an empty name, to all devices.
std::vector<Unasked> find_unasked(const Profile& profile, std::string_view device);
// Whether rules can be applied at all: only heapprof's own profiles have the data.
bool can_have_findings(const Profile& profile);

// The findings of all devices. pre: can_have_findings(profile); `tree` is the profile's
// brief_growth: receives those of kGrowth in work shorter than kGrowthRunNs, which are no problems; may be null.
std::vector<Finding> find_findings(const Profile& profile, const PlaceTree& tree,
                                   std::vector<Finding>* brief_growth = nullptr);

}  // namespace heapprof::cli
