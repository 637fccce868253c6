// cli/model/analysis/findings.h: places of a profile that look like a problem people know, found by rules with fixed
// thresholds.
//
// Guarantees
//  - A finding says only what was counted, or what a function on the stack does by its contract
//    (cli/model/analysis/copy_frames.h).
//  - The order is by cost in bytes, the largest first, whatever it is a share of.
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
  kCopies,
  kOldAndNew,
  kTwins,
  kWholeFile,
  kChurn,
  kStorm
};

enum class ShareOf { kPeak, kTotalBytes, kAllocations };

struct Finding {
  FindingKind kind = FindingKind::kGrowth;
  std::string id;  // "growth-1f3a9c02"
  uint32_t device = 0;
  uint32_t frame = 0;  // of the place; meaningless if has_frame is false
  bool has_frame = false;
  CallerChain callers;
  uint64_t cost_bytes = 0;  // what is in question: gained, kept, moved, allocated in vain
  uint64_t cost_blocks = 0;
  ShareOf share_of = ShareOf::kPeak;
  Ratio share;
  uint64_t each_bytes = 0;           // size of a block; the mean where they differ
  uint64_t over_ns = 0;              // growth, never freed: the stretch of time that the cost arose in
  uint64_t all_blocks = 0;           // small blocks never freed: all that the stacks made
  uint64_t at_peak_bytes = 0;        // peak of the start: what the place held then
  uint64_t from_ns = 0;              // peak of the start: from then on the device had at most …
  uint64_t later_bytes = 0;          // … so much
  uint64_t most_blocks = 0;          // churn: alive at once, at most
  uint64_t temporary_blocks = 0;     // storm
  bool is_lost = false;              // never freed: nothing led to them at exit (run --leak-check)
  bool is_estimate = false;          // copies: what growing containers copied is half of what they allocated
  std::string memory_name;           // the program's own, which every block of the place had; empty: there is none
  uint32_t other_frame = kNoModule;  // twins: of the original's place; kNoModule: it has none
};

// As it is written: "growth", "never-freed" …
const char* finding_name(FindingKind kind);
// What a rule goes by, and the profile lacks.
enum class Lack {
  kOneRun,       // it is a sum of runs, whose times and peaks are not of one clock
  kTime,         // the run is shorter than 1 s
  kMoments,      // what sites held at moments of the run
  kHostMoments,  // the same, of devices other than the host
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
std::vector<Finding> find_findings(const Profile& profile, const PlaceTree& tree);

}  // namespace heapprof::cli
