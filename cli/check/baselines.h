// cli/check/baselines.h: what programs are compared with: profiles, or the runs in a history.
//
// Guarantees
//  - A baseline that is missing, or of another program, is a problem. The exception is a history to which this check
//    adds its runs: it may have no runs of the program yet.
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

// Returns "its 3 runs differ by up to 4.2 % (host peak)", with a line end. If the tolerance is too small for such runs
// to pass, adds a larger one. Empty: there is one run, or the runs do not differ by more than the slack.
std::string spread_text(const Budget& budget, const std::vector<Profile>& runs);

class Baselines {
 public:
  explicit Baselines(const CheckOptions& options) : options_(options) {}

  // Before the program runs: a problem if the budget's baseline is missing, or cannot be updated.
  Result<Done> check(const Budget& budget);
  // Returns the baseline, in which the leaks that match the rules are marked; empty if a new baseline is made.
  Result<Baseline> find(const Budget& budget, const Profile& profile, const Suppressions& rules);

 private:
  Result<const History*> history(const std::string& path);
  bool is_written(const std::string& path) const;

  const CheckOptions& options_;
  std::map<std::string, History> histories_;  // by path; as they were before this check added to them
};

}  // namespace heapprof::cli
