// cli/model/compare/runs.h: compares runs without their sites: the median of several runs, how far they differ, and
// which runs of two sets belong together.
//
// Guarantees
//  - Deterministic: among equal runs the one that the user named first is chosen.
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
PlaceNumbers numbers_on(const RunTotals& run, const std::string& device);  // zeros if the run lacks the device

// Whether both runs are of the same program with the same arguments. The program's folder does not matter. An unknown
// command equals any other.
bool is_same_command(const RunTotals& a, const RunTotals& b);

// The index of the median run by the first device's peak, or by its total if there is no peak; the lower one for an
// even number of runs. pre: not empty
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
// Runs of one command belong together; several on one side are repeated runs. The remaining runs are paired by file
// name.
Pairing pair_runs(const std::vector<RunTotals>& base, const std::vector<RunTotals>& current);

}  // namespace heapprof::cli
