// cli/model/judge/budget.h: what a program may take: limits on a metric of a device, or on the part of some functions.
//
// Made from flags, or from a file by cli/read/read_budget; cli/model/judge/verdict.h judges profiles by it.
//
// Guarantees
//  - Amounts are integers: bytes, blocks, or hundredths of a percent. The resident set is not used.
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

// What is limited. Peak, total and leaked are bytes, allocations are blocks; temporary are blocks or a share of the
// allocations. For a scope, `metric` is unused, and the device counts if the scope's metric has one.
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
bool is_of_device(const Subject& subject);  // false: of the scope as a whole, or of its calls
// "peak", "calls_per_run": its key in a budget.
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
  ValueText text;           // of `most`
};

// Memory allocated below the frames that match.
struct SubtreeBudget {
  FramePattern frames;
  std::string name;  // as it was written
  FileLine at;
};

// For a command: only the program that it starts, or also every process that this one starts.
enum class ProcessScope { kStarted, kEach };

struct Budget {
  std::string name;
  std::vector<std::string> command;  // empty: none is given
  std::vector<Limit> limits;         // of the whole and of subtrees; one for each subject
  std::vector<SubtreeBudget> subtrees;
  std::vector<ScopeBudget> scopes;  // those without a limit are only compared with the baseline
  Suppressions ignores;             // leaks that do not count
  std::optional<uint64_t> warn_share;
  std::optional<uint64_t> tolerance_share;  // growth over the baseline,
  std::optional<uint64_t> slack_bytes;      // and never less than this; 0: then counts have no slack either
  std::optional<uint64_t> runs;
  std::optional<ProcessScope> processes;
  std::string baseline;              // a profile, or a folder that has NAME.json; empty: none
  std::string message;               // shown if it is exceeded
  std::optional<Contract> contract;  // what must hold besides the limits; then `name` is its id
  FileLine at;
};

struct BudgetFile {
  std::string path;
  std::string text;  // as it was read
  Budget defaults;
  std::vector<Budget> budgets;
};

// "3 %", "0.5%" in hundredths of a percent; none if it is no percentage (base/units.h), or has more digits.
std::optional<uint64_t> parse_share(std::string_view text);
// Decimal digits with _ between them.
std::optional<uint64_t> parse_count(std::string_view text);
// "3", "1.5" in hundredths; none with more than two digits after the point.
std::optional<uint64_t> parse_average(std::string_view text);

// "512 MiB", "2_000_000", "60 %": as the metric requires; sets subject->is_share. A problem says what was expected.
Result<uint64_t> parse_amount(std::string_view text, Subject* subject);
// "12 GiB ± 2 %", "12 GiB +- 64 KiB".
Result<Expectation> parse_expectation(std::string_view text, Subject* subject);
// The value of a flag such as --max-peak: "host=512MiB", or "512MiB" for the host.
Result<Limit> parse_limit_flag(const std::string& flag, Metric metric, const std::string& text);

// The budget, with unset values taken from the defaults.
Budget with_defaults(const Budget& defaults, Budget budget);

// The allowed growth over the baseline. Without a slack of bytes, counts have none either: then only the share counts.
Tolerance tolerance_of(const Budget& budget);

// True if one of the limits is for the scopes at that index.
bool has_limit_of_scope(const Budget& budget, size_t scope);

// True if the budget is for this command line: the same arguments, and the same program, at least by its file name.
bool is_for_command(const Budget& budget, const std::vector<std::string>& command);

}  // namespace heapprof::cli
