// cli/model/analysis/passing_memory.h: the origin of transient memory, which a device has at its peak and not at other
// times: one place, or several lines of one function and its callees.
//
// An export that keeps rows, and then their text, is one export. So if the place with most of it has less than nine
// tenths, the innermost function that nearly all of it comes from is named, with its lines.
#pragma once

#include "cli/model/analysis/finding_rules.h"

#include <optional>
#include <vector>

namespace heapprof::cli {

// What the place had at the peak, without suppressed leaks, which no series has.
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

// None: less than `least_bytes` is transient.
std::optional<Cause> find_cause(const FindingScene& scene, const std::vector<Passing>& passing, uint64_t least_bytes);
// Begins a finding with its place and its cost.
Finding start_finding(const FindingScene& scene, FindingKind kind, Cause* cause);

}  // namespace heapprof::cli
