// cli/model/analysis/passing_memory.h: whose memory it is that a device has at its peak and at other times has not: one
// place's, or that of several lines of one function and of what it calls.
//
// An export that keeps rows, and then their text, is one export. So where the place with most of it has less than nine
// tenths, the innermost function that nearly all of it comes from is named, with its lines.
#pragma once

#include "cli/model/analysis/finding_rules.h"

#include <optional>
#include <vector>

namespace heapprof::cli {

// What the place had at the peak, without leaks that a suppression explains: no series has these.
struct AtPeak {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  std::vector<WeightedSite> sites;
};
AtPeak at_peak(const FindingScene& scene, const Place& place);

// What of a place's part of the peak was not there at other times.
struct Passing {
  uint32_t place = 0;
  uint64_t bytes = 0;
  bool is_bound = false;  // it is so much at least
};

// What passes, as far as one place or function explains it.
struct Cause {
  Passing passing;
  AtPeak peak;
  std::vector<uint32_t> places;
  std::vector<uint32_t> lines;  // frames of the function, those with most first; empty: the place alone explains it
  CallerChain callers;          // of the function
};

// None: less passes than `least_bytes`.
std::optional<Cause> find_cause(const FindingScene& scene, const std::vector<Passing>& passing, uint64_t least_bytes);
// Begins a finding: where it is, and what it costs.
Finding start_finding(const FindingScene& scene, FindingKind kind, Cause* cause);

}  // namespace heapprof::cli
