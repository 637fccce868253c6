// cli/model/compare/scope_changes.h: the program's own scopes in two profiles, matched by their paths: what changed.
//
// Guarantees
//  - A scope is the same in both profiles if its category and its name are, and those of all scopes around it.
//  - Numbers of memory and counts that differ at all are a change. What is counted for each run of a scope (calls of a
//    device's API, kernels) changed if the average did: twice the runs with twice the calls are no change.
//  - Deterministic for equal profiles; a profile and itself have no change.
// Not provided: marks, percentiles of times.
// Cost:     linear in scopes, but for bringing them into order.
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
  kTime,        // with inner scopes, as all numbers of memory are
  kTimePerRun,  // of those that ended
  kAllocatedBytes,
  kAllocatedBlocks,
  kKeptBytes,  // what was allocated and not freed; below 0: what was freed had been allocated before
  kPeakInsideBytes,
  kKernelLaunches,  // per run
  kCalls,           // per run
};
// "allocated_bytes": what a number is called in JSON.
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
  BySide<int64_t> value = {};  // 0 where the scope is not; what the type cannot hold is the most that it can
  BySide<int64_t> own = {};    // of it the scope's own part, without that of inner scopes
  BySide<uint64_t> runs = {};  // of a time those that ended, of all else those that were begun

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
  uint32_t parent = 0;  // its place in ScopesDiff::scopes + 1, which is smaller than this one's; 0: it is outermost
  std::string category;
  std::string name;
  BySide<bool> is_in = {};
  BySide<uint64_t> begun = {};
  BySide<uint64_t> ended = {};
  std::vector<ScopeNumber> numbers;  // those that are not 0 in both profiles, in the order of ScopeField by device
};

struct ScopesDiff {
  std::vector<ScopeChange> scopes;  // of both profiles
  BySide<size_t> counts = {};       // how many each profile has
  BySide<uint64_t> lost = {};       // begins that each profile could not count

  bool is_in_both() const { return counts[kBase] != 0 && counts[kCurrent] != 0; }
};

ScopesDiff diff_scopes(const Scopes& base, const Scopes& current);

// Times differ from run to run. One is a change if it differs by more than a quarter of the base's, or by more than the
// tolerance's share if that is larger, and by more than a millisecond: of all runs together, and an average of as many
// runs as the profile with fewer of them has.
inline constexpr Ratio kLeastTimeShare = {1, 4};
inline constexpr uint64_t kLeastTimeNs = 1'000'000;
bool is_changed(const ScopeNumber& number, const Tolerance& tolerance);
// Whether it differs at all.
bool is_different(const ScopeNumber& number);

// Places of the scopes of which a number changed, the most changed first. A change is weighed as a share of the most
// that any scope has of that number in either profile, and a scope by the largest share of its own numbers, those of
// inner scopes left out; of equal ones the inner scope comes first. `all`: also those that changed by no more than the
// tolerance.
std::vector<uint32_t> rank_scopes(const ScopesDiff& diff, const Tolerance& tolerance, bool all);

// The scopes around it and itself, the outermost first.
std::vector<uint32_t> scope_path(const ScopesDiff& diff, uint32_t place);

}  // namespace heapprof::cli
