// cli/model/judge/budget.h: how much memory a program may use: limits on a metric of a whole device, or of what some
// functions and their callees allocate.
//
// A budget is made from flags, or by cli/read/read_budget from a file. cli/model/judge/verdict.h judges profiles by it.
//
// Guarantees
//  - Amounts are integers: bytes, blocks, or hundredths of a percent. The resident set size is not limited.
#pragma once

#include "cli/base/problems.h"
#include "cli/base/result.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/places.h"
#include "cli/model/analysis/suppressions.h"
#include "cli/model/compare/tolerance.h"
#include "cli/model/judge/contract.h"
#include "cli/model/judge/scope_subject.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

inline constexpr uint64_t kWholeShare = 10'000;  // 100 %, in hundredths of a percent

// What is limited. The metrics peak, total and leaked are in bytes, allocations in blocks, temporary in blocks or as a
// share of the allocations. For a scope, `metric` is unused, and `device` is used only if the scope's metric is per
// device.
struct Subject {
  static constexpr size_t kWhole = SIZE_MAX;

  Metric metric = Metric::kPeak;
  std::string device = "host";
  bool is_share = false;
  size_t subtree = kWhole;  // index into Budget::subtrees; kWhole: the device as a whole
  std::optional<ScopeSubject> scope = {};

  bool is_whole() const { return subtree == kWhole && !scope; }  // all of the device
  auto operator<=>(const Subject&) const = default;
};

bool is_in_bytes(const Subject& subject);
bool is_of_device(const Subject& subject);  // false: it is of a scope as a whole, or of its calls
// The subject's key in a budget: "peak", "calls_per_run".
const char* subject_word(const Subject& subject);

// The position of a value in the budget's file, so that --update-budget can replace it.
struct ValueText {
  size_t begin = 0;  // byte offsets; end 0: not in a file
  size_t end = 0;
};

struct Limit {
  Subject subject;
  std::optional<uint64_t> most;
  std::optional<Expectation> expect;
  FileLine at;              // line 0: `file` is the flag that set it
  bool is_default = false;  // from [defaults]: no error if the program has no such device
  ValueText text;           // position of `most`
};

// Memory allocated below the frames that match.
struct SubtreeBudget {
  FramePattern frames;
  std::string name;  // as it was written
  FileLine at;
};

// Which processes of a command are judged: only the program that the command starts, or also every process that this
// program starts.
enum class ProcessScope { kStarted, kEach };

struct Budget {
  std::string name;
  std::vector<std::string> command;  // empty: none is given
  std::vector<Limit> limits;         // of devices, subtrees and scopes; one for each subject
  std::vector<SubtreeBudget> subtrees;
  std::vector<ScopeBudget> scopes;  // a scope without a limit is only compared with the baseline
  Suppressions ignores;             // leaks that do not count
  std::optional<uint64_t> warn_share;
  std::optional<uint64_t> tolerance_share;  // allowed growth over the baseline
  std::optional<uint64_t> slack_bytes;      // growth up to this is always allowed; 0: counts have no slack either
  std::optional<uint64_t> runs;
  std::optional<ProcessScope> processes;
  std::string baseline;              // path of a profile, or of a folder that has NAME.json; empty: no baseline
  std::string message;               // shown if it is exceeded
  std::optional<Contract> contract;  // assertions besides the limits; then `name` is the contract's id
  FileLine at;
};

struct BudgetFile {
  std::string path;
  std::string text;  // as it was read
  Budget defaults;
  std::vector<Budget> budgets;
};

// "3 %", "0.5%" in hundredths of a percent. Returns nullopt if the text is not a percentage (base/units.h), or has more
// digits.
std::optional<uint64_t> parse_share(std::string_view text);
// Decimal digits with _ between them.
std::optional<uint64_t> parse_count(std::string_view text);
// "3", "1.5" in hundredths. Returns nullopt if there are more than two digits after the point.
std::optional<uint64_t> parse_average(std::string_view text);

// "512 MiB", "2_000_000", "60 %": in the unit that the metric requires. Sets subject->is_share. A problem says what was
// expected.
Result<uint64_t> parse_amount(std::string_view text, Subject* subject);
// "12 GiB ± 2 %", "12 GiB +- 64 KiB".
Result<Expectation> parse_expectation(std::string_view text, Subject* subject);
// The value of a flag such as --max-peak: "host=512MiB", or "512MiB" for the host.
Result<Limit> parse_limit_flag(const std::string& flag, Metric metric, const std::string& text);

// Returns the budget, with unset values taken from the defaults.
Budget with_defaults(const Budget& defaults, Budget budget);

// The allowed growth over the baseline. If the budget sets the slack of bytes to 0, blocks have no slack either, and
// only the share counts.
Tolerance tolerance_of(const Budget& budget);

// True if one of the limits is for Budget::scopes[scope].
bool has_limit_of_scope(const Budget& budget, size_t scope);

// True if the budget is for this command line: the same arguments, and the same program, at least by its file name.
bool is_for_command(const Budget& budget, const std::vector<std::string>& command);

}  // namespace heapprof::cli
