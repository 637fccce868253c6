// cli/model/compare/scope_changes.h: the changes of the program's own scopes between two profiles, matched by their
// paths.
//
// Guarantees
//  - A scope is the same in both profiles if its category and name are the same, and also those of all scopes around
//    it.
//  - Any difference of a memory number or a count is a change. Calls of a device's API and kernel launches are compared
//    by their average per run of the scope: twice the calls in twice the runs do not count as a change.
//  - Deterministic for equal profiles; a profile compared with itself has no change.
// Not provided: marks, percentiles of times.
// Cost:     linear in scopes, except for sorting them.
#pragma once

#include "cli/base/units.h"
#include "cli/model/compare/stack_paths.h"
#include "cli/model/compare/tolerance.h"
#include "cli/model/profile/scopes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

enum class ScopeField {
  kBegun,
  kItems,
  kTime,        // including inner scopes, as all numbers of memory do
  kTimePerRun,  // average of the runs that ended
  kAllocatedBytes,
  kAllocatedBlocks,
  kKeptBytes,  // net change: allocated less freed; negative if it freed memory that was allocated before
  kPeakInsideBytes,
  kKernelLaunches,  // per run
  kCalls,           // per run
};
// "allocated_bytes": the number's name in JSON.
const char* scope_field_name(ScopeField field);
constexpr bool is_time(ScopeField field) { return field == ScopeField::kTime || field == ScopeField::kTimePerRun; }
constexpr bool is_per_run(ScopeField field) { return field >= ScopeField::kKernelLaunches; }
constexpr bool is_in_bytes(ScopeField field) {
  return field == ScopeField::kAllocatedBytes || field == ScopeField::kKeptBytes ||
         field == ScopeField::kPeakInsideBytes;
}

struct ScopeNumber {
  ScopeField field = ScopeField::kBegun;
  std::string of;              // the device, or the call; else empty
  BySide<int64_t> value = {};  // 0 if the profile lacks the scope; saturates at the type's limit
  BySide<int64_t> own = {};    // the part of `value` without inner scopes
  BySide<uint64_t> runs = {};  // for times, runs that ended; for other numbers, runs that began

  uint64_t amount() const { return distance(value); }
  uint64_t own_amount() const { return distance(own); }

 private:
  static uint64_t distance(const BySide<int64_t>& of) {
    const auto base = static_cast<uint64_t>(of[kBase]);
    const auto current = static_cast<uint64_t>(of[kCurrent]);
    return of[kCurrent] > of[kBase] ? current - base : base - current;
  }
};

struct ScopeChange {
  uint32_t parent = 0;  // index into ScopesDiff::scopes + 1, smaller than this one's; 0: it is outermost
  std::string category;
  std::string name;
  BySide<bool> is_in = {};
  BySide<uint64_t> begun = {};
  BySide<uint64_t> ended = {};
  std::vector<ScopeNumber> numbers;  // except those that are 0 in both profiles; in the order of ScopeField, by device
};

struct ScopesDiff {
  std::vector<ScopeChange> scopes;  // of both profiles
  BySide<size_t> counts = {};       // how many each profile has
  BySide<uint64_t> lost = {};       // begins that each profile could not count

  bool is_in_both() const { return counts[kBase] != 0 && counts[kCurrent] != 0; }
};

ScopesDiff diff_scopes(const Scopes& base, const Scopes& current);

// Times differ from run to run. A time is a change if it differs by more than a quarter of the base's, or by more than
// the tolerance's share if that is larger, and by more than a millisecond. The millisecond applies to all runs
// together. For an average, it is divided by the number of runs of the profile with fewer runs.
inline constexpr Ratio kLeastTimeShare = {1, 4};
inline constexpr uint64_t kLeastTimeNs = 1'000'000;
bool is_changed(const ScopeNumber& number, const Tolerance& tolerance);
// Whether it differs at all.
bool is_different(const ScopeNumber& number);

// Indexes of the scopes with a changed number, the most changed first. The weight of a change is its share of the
// largest value of that number in either profile. A scope's weight is the largest share of its own numbers, without
// inner scopes. Among equal weights the inner scope comes first. `all`: includes scopes that changed by no more than
// the tolerance.
std::vector<uint32_t> rank_scopes(const ScopesDiff& diff, const Tolerance& tolerance, bool all);

// The indexes of the scopes around this one and of itself, the outermost first.
std::vector<uint32_t> scope_path(const ScopesDiff& diff, uint32_t place);

}  // namespace heapprof::cli
