// cli/model/compare/runs.h: runs without their sites: the median of several, how far they differ, and which runs of two
// sets belong together.
//
// Guarantees
//  - Deterministic: among equals the one named first.
#pragma once

#include "cli/base/units.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

struct RunTotals {
  std::string file;  // as the user named it
  Dialect dialect = Dialect::kHeapprof;
  bool has_lifetimes = true;
  bool is_merged = false;
  bool complete = true;
  std::string incomplete_reason;
  std::vector<std::string> command;
  std::vector<std::pair<std::string, PlaceNumbers>> devices;  // in the profile's order
};

RunTotals sum_run(const Profile& profile, const std::string& file);
PlaceNumbers numbers_on(const RunTotals& run, const std::string& device);  // zeros if it lacks the device

// Whether the two ran the same program with the same arguments. The program's folder does not matter; an unknown
// command equals any other.
bool is_same_command(const RunTotals& a, const RunTotals& b);

// The median run by the first device's peak, or its total without a peak; of two the lower. pre: not empty
size_t median_run(const std::vector<RunTotals>& runs);

// The largest difference of a run from the median one, as a share of its value. 0 for one run.
Ratio find_noise(const std::vector<RunTotals>& runs, const std::string& device, Metric metric);

struct RunPair {
  std::vector<size_t> base;
  std::vector<size_t> current;
};
struct Pairing {
  std::vector<RunPair> pairs;  // in the order of current
  std::vector<size_t> base_only;
  std::vector<size_t> current_only;
};
// Runs of one command belong together, several of one side as repeated runs; of the rest, files with the same name.
Pairing pair_runs(const std::vector<RunTotals>& base, const std::vector<RunTotals>& current);

}  // namespace heapprof::cli
