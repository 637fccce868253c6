// cli/model/analysis/findings.h: places of a profile that look like a problem people know, found by rules with fixed
// thresholds.
//
// Guarantees
//  - A finding says only what was counted, or what a function on the stack does by its contract
//    (cli/model/analysis/copy_frames.h).
//  - The order is by what a developer would do first (FindingRank), then by cost in bytes.
//  - Ids are those of the same place in every run of the program: rule, device, function and file, without lines and
//    addresses.
//  - Leaks that a suppression explains (Site::suppressed_by) are in no finding.
// Not provided: proof. A program that builds a table until it ends looks like one that leaks; the thresholds are those
//           of man/heapprof-report.1, chosen so that programs in good order have no findings.
// Cost:     linear in nodes and sites, twice what a report costs.
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
  std::string id;  // "1f3a9c02": of its device and place
  uint32_t device = 0;
  uint32_t frame = 0;  // of the place; meaningless if has_frame is false
  bool has_frame = false;
  // Peak of the start, spike: more frames of the same function, those with most first, where it comes from several
  // lines.
  std::vector<uint32_t> other_lines;
  CallerChain callers;
  uint64_t cost_bytes = 0;  // what is in question: gained, kept, moved, allocated in vain
  uint64_t cost_blocks = 0;
  ShareOf share_of = ShareOf::kPeak;
  Ratio share;
  uint64_t each_bytes = 0;           // size of a block; the mean where they differ
  uint64_t over_ns = 0;              // growth, never freed: the stretch of time that the cost arose in; spike: its own
  uint64_t all_blocks = 0;           // small blocks never freed: all that the stacks made
  uint64_t at_peak_bytes = 0;        // peak of the start, spike: what the place held then; untouched: in large blocks
  bool is_at_least = false;          // peak of the start, spike: the cost is a lower bound
  uint64_t seen_ns = 0;              // untouched: when it was looked at
  uint64_t from_ns = 0;              // fragmentation: since when; peak of the start: from then on it had at most …
  uint64_t later_bytes = 0;          // … so much; spike: before and after it
  uint64_t without_bytes = 0;        // spike: about what the device's peak is without what the place held
  uint64_t most_blocks = 0;          // churn: alive at once, at most
  uint64_t temporary_blocks = 0;     // storm
  bool is_left = false;              // growth: nearly all of it was live at exit
  bool is_brief = false;             // growth: of work that is shorter than kGrowthRunNs
  bool is_of_tensors = false;        // growth: PyTorch allocated it
  uint64_t lifetime_ns = 0;          // backlog: of a block, on average
  bool is_by_contrast = false;       // never freed: nearly all else was
  bool is_lost = false;              // never freed: nothing led to them at exit (run --leak-check)
  bool is_estimate = false;          // copies: what growing containers copied is half of what they allocated
  bool is_concatenation = false;     // copies: strings that were added with +, each a new one
  std::string memory_name;           // the program's own, which every block of the place had; empty: there is none
  std::string held_by;               // what leads to most of it at exit (holder_words()); empty: not known
  uint32_t other_frame = kNoModule;  // twins: of the original's place; kNoModule: it has none
  uint64_t empty_bytes = 0;          // fragmentation: of the cost, in pages without a block
  bool is_pinned = false;            // fragmentation: blocks lie all over it; else it is large pieces without any

  // Lost, where it is known what owns the rest (run --leak-check).
  uint64_t owners = 0;                 // blocks, or cycles; 0: not known
  bool is_cycle = false;               // they are cycles of blocks that point to each other …
  std::vector<uint32_t> cycle_frames;  // … of the place and of these; kNoModule: of a stack without a frame
  bool is_counted = false;             // … by pointers that count their owners (std::shared_ptr, Rc)
};

// What is looked at first: memory that is lost or grows without end; what stays though it was freed, as others pin it;
// what makes the peak, and what the allocator keeps of it; then what is small beside the peak; last what costs time,
// and no memory.
enum class FindingRank { kLost, kUnreturned, kPeak, kUntrimmed, kSmall, kTime };
FindingRank rank_of(const Profile& profile, const Finding& finding);
// Of those that cost time: how much, estimated from what an allocation and a copied byte take.
uint64_t estimated_ns(const Finding& finding);

// The shortest run that a rule is asked of which goes by what places hold over time. What grows to the end of a short
// run may be data that is loaded; a spike is one in any run.
inline constexpr uint64_t kGrowthRunNs = 1'000'000'000;
inline constexpr uint64_t kShapeRunNs = 100'000'000;
constexpr uint64_t least_run_ns(FindingKind kind) { return kind == FindingKind::kGrowth ? kGrowthRunNs : kShapeRunNs; }

// As it is written: "growth", "never-freed" …
const char* finding_name(FindingKind kind);
// What a rule goes by, and the profile lacks.
enum class Lack {
  kOneRun,       // it is a sum of runs, whose times and peaks are not of one clock
  kTime,         // the run is shorter than least_run_ns()
  kMoments,      // what sites held over the run
  kHostMoments,  // the same, of some of the devices
  kEnd,          // the program did not come to its own end
  kNames         // of functions
};
struct Unasked {
  FindingKind kind = FindingKind::kGrowth;
  std::string devices;  // "cuda:0, pinned"; empty: of no device
  Lack lack = Lack::kTime;

  bool operator==(const Unasked&) const = default;
};
// The rules that could not be asked of the device; with an empty name, of all devices.
std::vector<Unasked> find_unasked(const Profile& profile, std::string_view device);
// Whether rules can be asked at all: only profiles of heapprof's own have what they go by.
bool can_have_findings(const Profile& profile);

// The findings of all devices. pre: can_have_findings(profile); `tree` is the profile's
// brief_growth: gets those of kGrowth in work shorter than kGrowthRunNs, which are no problems; may be null.
std::vector<Finding> find_findings(const Profile& profile, const PlaceTree& tree,
                                   std::vector<Finding>* brief_growth = nullptr);

}  // namespace heapprof::cli
