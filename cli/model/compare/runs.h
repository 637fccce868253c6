// cli/model/compare/runs.h: runs without their sites: which of several is the median, how far they differ, which of two
// sets belong together.
//
// Guarantees
//  - Deterministic: of equals the one that was named first.
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
PlaceNumbers numbers_on(const RunTotals& run, const std::string& device);  // zeros where it does not have the device

// Whether the two ran one program with the same arguments. The program's folder does not matter, nor that of an unknown
// program.
bool is_same_command(const RunTotals& a, const RunTotals& b);

// The run in the middle by the first device's peak, or its total where there is no peak; of two the lower. pre: there
// is one
size_t median_run(const std::vector<RunTotals>& runs);

// By how much runs differ from the median one at most, as a share of its value. 0 for one run.
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
// Runs of one command belong together, several of one side as runs of the same; of what is left, files of one name.
Pairing pair_runs(const std::vector<RunTotals>& base, const std::vector<RunTotals>& current);

}  // namespace heapprof::cli
