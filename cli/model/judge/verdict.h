// cli/model/judge/verdict.h: whether a program stayed within its budget: each limit with the measured value, and the
// place that caused an excess.
//
// Guarantees
//  - If the program failed, or the profile is incomplete, there is no verdict on its memory: neither "ok" nor "over".
//  - Only requested bytes and counts decide. For several runs, each number is judged by its median.
//  - Leaks do not count if a suppression, or an "ignore" of the budget, matches them.
#pragma once

#include "cli/base/median.h"
#include "cli/model/judge/budget.h"
#include "cli/model/judge/budget_fit.h"
#include "cli/model/profile/profile.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

enum class Outcome { kOk, kWarning, kFail };
enum class Reason { kNone, kOverLimit, kBelowExpected, kAboveExpected, kOverBaseline, kNearLimit };

// The place with the largest part of the exceeded metric; if a baseline was exceeded, the place that grew most.
struct Culprit {
  std::string function;  // without parameters; empty: unknown
  std::string file;      // relative to the project's folder if below it, else as in the debug information; may be empty
  uint32_t line = 0;
  std::string module;  // its file's name
  uint64_t value = 0;  // of the metric: bytes or blocks
  uint64_t whole = 0;  // the sum that `value` is a part of
  bool is_growth = false;
};

struct Judged {
  Subject subject;
  std::string subtree;  // as in the budget; empty: the device as a whole
  Outcome outcome = Outcome::kOk;
  Reason reason = Reason::kNone;
  uint64_t value = 0;
  std::optional<uint64_t> most;
  std::optional<Expectation> expect;
  std::optional<uint64_t> base;
  uint64_t base_most = 0;  // the largest value allowed over `base`, with tolerance and slack
  std::optional<Culprit> culprit;
  FileLine at;  // where the limit is
  bool is_default = false;
  ValueText text;
  uint64_t raised_most = 0;  // if over a limit: a limit that would be sufficient, with tolerance
  std::optional<Fact> fact;  // a contract's claim that is not about memory; then only this, `outcome` and `at` count
  std::optional<uint64_t> warn_share;  // warn above this share of `most`; from the budget
};

struct Spread {
  uint64_t median = 0;
  uint64_t least = 0;
  uint64_t most = 0;
};

struct DeviceNumbers {
  std::string device;
  std::array<Spread, kMetricFields.size()> metrics;  // by metric_index()

  const Spread& operator[](Metric metric) const { return metrics[metric_index(metric)]; }
};

enum class Trouble { kNone, kIncomplete, kProgramFailed, kNotJudged };

struct RunState {
  Trouble trouble = Trouble::kNone;
  std::string reason;    // why the run is not complete; kNotJudged: the problem that prevented a verdict
  bool is_whole = true;  // no data of the run is missing, however it ended
  RunEnd end;            // end of the process that failed, or else of the program
  int exit_code = 0;     // only for kNotJudged
};

// Programs that ran and got no verdict.
struct Unjudged {
  uint64_t processes = 0;  // processes that the program started
  uint64_t replaced = 0;   // programs that another one replaced by exec
};

struct Verdict {
  std::string name;  // the budget's, or the program's
  std::vector<std::string> command;
  std::string profile;  // its file
  std::string baseline;
  size_t baseline_runs = 0;  // runs of a history whose median is the baseline; 0: the baseline is a profile
  std::string statement;     // the contract's statement
  std::string message;
  size_t runs = 1;
  uint64_t duration_ns = 0;
  RunState state;
  Unjudged unjudged;
  std::vector<Judged> judged;          // empty in case of trouble
  std::vector<DeviceNumbers> devices;  // "
  std::vector<std::string> folded;     // folded functions of culprits, as shown

  bool failed() const;  // over a limit
  size_t count(Outcome outcome) const;
};

// A name that no verdict has yet, because names are keys in most outputs. For several profiles of one budget the second
// is "NAME 2".
std::string free_name(const std::vector<Verdict>& taken, const std::string& name);

// How a run ended, and whether its numbers can be trusted. For a sum of profiles, the part with the worst end counts.
RunState find_run_state(const Profile& profile);
// The same for a process that the program started. Its exit code does not count as a failure, because only its parent
// knows what the code means. SIGTERM and similar signals do not count either, because they often end helpers. A crash
// is a failure.
RunState find_started_state(const Profile& profile);

// The subjects that the budget limits and, if there is a baseline, all that are compared with it; in the order shown.
std::vector<Subject> find_subjects(const Budget& budget, const Profile& profile, bool has_baseline);

// Returns a problem if the two profiles are not of the same program and tool, or if the baseline is incomplete or its
// program failed.
Result<Done> check_baseline(const Profile& profile, const Profile& baseline, const std::string& file);

// Measures each subject. pre: leaks are marked (cli/model/analysis/suppressions.h).
std::vector<uint64_t> measure(const Budget& budget, const std::vector<Subject>& subjects, const Profile& profile);
std::vector<DeviceNumbers> measure_devices(const std::vector<Profile>& runs);

// What is judged: the subjects, a list of measured values for each run, and the baseline's values (empty: no baseline).
struct Evidence {
  std::vector<Subject> subjects;
  std::vector<std::vector<uint64_t>> runs;
  std::vector<uint64_t> baseline;
  std::vector<bool> is_compared;  // by subject; false: the baseline lacks it; empty: the baseline has all
};
std::vector<Judged> judge(const Budget& budget, const Evidence& evidence);
// Sets the line's reason and outcome from its other members. It is called again when the line's limit has changed.
void decide(Judged* line);

// Finds the culprit of each line that is not ok. `baseline` may be null. Files below the folder `root` are shown
// relative to it.
void find_culprits(const Budget& budget, const Profile& profile, const Profile* baseline, const std::string& root,
                   std::vector<Judged>* judged);

}  // namespace heapprof::cli
