// cli/check/baselines.h: what programs are compared with: profiles, or the runs in a history.
//
// Guarantees
//  - A baseline that is missing, or of another program, is a problem; but a history that this check writes may begin
//    with it.
#pragma once

#include "cli/base/result.h"
#include "cli/check/check.h"
#include "cli/model/analysis/suppressions.h"
#include "cli/model/judge/history_baseline.h"
#include "cli/model/judge/verdict.h"
#include "cli/read/read_history.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// A run's baseline: nothing, a profile, or runs.
struct Baseline {
  std::string path;
  std::optional<Profile> profile;
  std::vector<HistoryEntry> runs;
};

// Measures the runs and the baseline.
Evidence compare(const Budget& budget, const std::vector<Profile>& runs, size_t shown, const Baseline& baseline);

// "its 3 runs differ by up to 4.2 % (host peak)", and the tolerance with which such runs pass, if it has to be larger;
// with a line end. Empty: one run, or they do not differ.
std::string spread_text(const Budget& budget, const std::vector<Profile>& runs);

class Baselines {
 public:
  explicit Baselines(const CheckOptions& options) : options_(options) {}

  // Before the program runs: a problem if the budget's baseline is missing, or cannot be updated.
  Result<Done> check(const Budget& budget);
  // The baseline, with leaks marked by the rules; empty if a new baseline is made.
  Result<Baseline> find(const Budget& budget, const Profile& profile, const Suppressions& rules);

 private:
  Result<const History*> history(const std::string& path);
  bool is_written(const std::string& path) const;

  const CheckOptions& options_;
  std::map<std::string, History> histories_;  // by path: from before this check added to them
};

}  // namespace heapprof::cli
