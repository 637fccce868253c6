// cli/model/compare/diff.h: compares two profiles: what changed per device and metric, and which places explain it.
//
// Here a place is a function: sites are summed by the innermost user function, regardless of its lines, files and
// callers in either profile (cli/model/compare/stack_paths.h, cli/model/compare/match_stacks.h).
//
// Guarantees
//  - Each site of both profiles is in exactly one place, so the changes of all places sum to the change of their
//    device.
//  - Suppressed leaks (cli/model/analysis/suppressions.h) are not part of the leaked metric, as in reports.
//  - Deterministic for equal profiles.
// Cost:     linear in frames, nodes and sites; 0.6 to 1.0 s of processor time and 131 to 212 MB for two profiles of
//           100,000 sites each, including reading them (tests/bench/runs/2026-11-21-diff.md).
#pragma once

#include "cli/base/units.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/compare/match_stacks.h"
#include "cli/model/compare/scope_changes.h"
#include "cli/model/compare/tolerance.h"

#include <string>
#include <vector>

namespace heapprof::cli {

struct PlaceChange {
  BySide<uint32_t> frame = {kNoFrame, kNoFrame};  // of the place, by profile; both kNoFrame: no stack
  bool is_by_module = false;                      // stands for a module's unnamed functions, whose addresses differ
  BySide<PlaceNumbers> numbers;
  std::vector<MatchedStack> stacks;

  Change change(Metric metric) const { return {numbers[kBase].metric(metric), numbers[kCurrent].metric(metric)}; }
};

struct DeviceChange {
  std::string name;
  BySide<bool> is_in = {};
  BySide<PlaceNumbers> numbers;  // zeros if the profile lacks the device
  std::vector<PlaceChange> places;

  Change change(Metric metric) const { return {numbers[kBase].metric(metric), numbers[kCurrent].metric(metric)}; }
};

struct ProfileDiff {
  BySide<PlaceTree> trees;
  std::vector<DeviceChange> devices;  // in the order of base, then those that only current has
  ScopesDiff scopes;
};

// pre: leaks are marked.
ProfileDiff diff_profiles(const Profile& base, const Profile& current);

// Whether both profiles have the metric, so that it can be compared.
bool has_metric(const Profile& base, const Profile& current, Metric metric);

// Indexes of the places that explain the device's change of the metric, the largest change first. Places that changed
// by no more than the slack are left out. Places that changed by no more than the tolerance's share are left out too,
// unless the device's own change exceeds the tolerance, and the place's change is at least a tenth of it.
std::vector<uint32_t> rank_changes(const DeviceChange& device, Metric metric, const Tolerance& tolerance);
// Indexes of all places that changed at all, the largest change first.
std::vector<uint32_t> rank_all_changes(const DeviceChange& device, Metric metric);

// Stacks of the place whose change has the same sign as the place's own, the largest first.
std::vector<uint32_t> rank_stacks(const PlaceChange& place, Metric metric);

// A frame of one of the two profiles, or kNoFrame.
struct ChangedFrame {
  Side side = kCurrent;
  uint32_t frame = kNoFrame;

  bool operator==(const ChangedFrame&) const = default;
};

// For each place of the device, the frame whose line explains why the function takes more or less. If it takes more,
// that is the line of the current profile that gained most; if less, the line of the base that lost most. The lines of
// both profiles are matched in order, such that the matched numbers differ least. If nothing changed, or the function
// has too many lines, it is PlaceChange::frame. Two lines with about the same numbers may be confused.
// Cost: linear in the device's sites, and for each function in the product of its lines.
std::vector<ChangedFrame> find_changed_frames(BySide<const Profile*> profiles, const BySide<PlaceTree>& trees,
                                              const DeviceChange& device, Metric metric);

}  // namespace heapprof::cli
