// cli/model/analysis/passing_memory.h: finds the cause of transient memory, which a device has at its peak but not at
// other times. The cause is one place, or several lines of one function and its callees.
//
// For example, an export that first keeps rows and then their text is one cause with two places. So if the largest
// place has less than nine tenths of the transient memory, the cause is the innermost function that nearly all of it
// comes from, with its lines.
#pragma once

#include "cli/model/analysis/finding_rules.h"

#include <optional>
#include <vector>

namespace heapprof::cli {

// What the place had at the peak. Suppressed leaks are left out, as in live_series().
struct AtPeak {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  std::vector<WeightedSite> sites;
};
AtPeak at_peak(const FindingScene& scene, const Place& place);

// The part of a place's share of the peak that was not live at other times.
struct Passing {
  uint32_t place = 0;
  uint64_t bytes = 0;
  bool is_bound = false;  // it is a lower bound
};

// The transient memory that one place or function explains.
struct Cause {
  Passing passing;
  AtPeak peak;
  std::vector<uint32_t> places;
  std::vector<uint32_t> lines;  // frames of the function, those with most first; empty: the place alone explains it
  CallerChain callers;          // of the function
};

// Returns nullopt if less than `least_bytes` is transient.
std::optional<Cause> find_cause(const FindingScene& scene, const std::vector<Passing>& passing, uint64_t least_bytes);
// Begins a finding with its place and its cost.
Finding start_finding(const FindingScene& scene, FindingKind kind, Cause* cause);

}  // namespace heapprof::cli
