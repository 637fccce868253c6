// cli/check/baselines.cc: a baseline is read once, before anything is added to it.
//
// The history that a check compares with may be the one to which it appends. If it were read again for the second
// program, it would contain the first one's new entry. So a history is kept as first read.
//
// A missing baseline is nearly always a mistake (a lost cache, a mistyped path), and treating it as "nothing to compare
// with" would let anything pass. The exception is a history that this very check writes: the first check has to begin
// it.
#include "cli/check/baselines.h"

#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/check/check_plan.h"
#include "cli/model/judge/budget_fit.h"
#include "cli/model/judge/scope_numbers.h"
#include "cli/read/read_profile.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

namespace heapprof::cli {
// True if this check adds its run to the same file, so that the next check has something to compare with.
bool Baselines::is_written(const std::string& path) const {
  const auto real = [](const std::string& file) {
    std::error_code error;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error);
  };
  return !options_.history.empty() && real(options_.history) == real(path);
}

Result<const History*> Baselines::history(const std::string& path) {
  if (const auto known = histories_.find(path); known != histories_.end()) return &known->second;
  Result<History> read = History{};
  if (access(path.c_str(), F_OK) == 0) read = read_history(path);
  if (!read) return read.problem();
  for (const Problem& warning : read->warnings) {
    if (!options_.quiet) print_problem(warning, options_.color);
  }
  return &histories_.emplace(path, std::move(*read)).first->second;
}

Result<Done> Baselines::check(const Budget& budget) {
  if (budget.baseline.empty()) return Done{};
  const std::string path = baseline_path(budget);
  if (!is_history(path)) {
    if (!options_.update_baseline && access(path.c_str(), F_OK) != 0) return baseline_missing(path);
    return Done{};
  }
  if (options_.update_baseline) return history_not_made_baseline(path);
  const Result<const History*> read = history(path);
  if (!read) return read.problem();
  const bool has_runs = !runs_of_command((*read)->entries, budget.name, budget.command).empty();
  if (has_runs || budget.command.empty() || is_written(path)) return Done{};
  return history_without_runs(path, command_text(budget.command));
}

Result<Baseline> Baselines::find(const Budget& budget, const Profile& profile, const Suppressions& rules) {
  Baseline baseline;
  if (budget.baseline.empty() || options_.update_baseline) return baseline;
  baseline.path = baseline_path(budget);
  if (is_history(baseline.path)) {
    const Result<const History*> read = history(baseline.path);
    if (!read) return read.problem();
    baseline.runs = runs_of_command((*read)->entries, budget.name, profile.run.command);
    if (!baseline.runs.empty()) return baseline;
    const std::string program = command_text(profile.run.command);
    if (!is_written(baseline.path)) return history_without_runs(baseline.path, program);
    if (!options_.quiet) print_problem(history_begins(baseline.path, program), options_.color);
    return baseline;
  }
  Result<Profile> read = read_profile(baseline.path);
  if (!read) return read.problem();
  if (const Result<Done> same = check_baseline(profile, *read, baseline.path); !same) return same.problem();
  if (const Result<Done> whole = check_scopes_of_baseline(budget, *read, baseline.path); !whole) return whole.problem();
  baseline.profile = std::move(*read);
  mark_suppressed(rules, &*baseline.profile);
  return baseline;
}

Evidence compare(const Budget& budget, const std::vector<Profile>& runs, size_t shown, const Baseline& baseline) {
  Evidence evidence;
  evidence.subjects = find_subjects(budget, runs[shown], baseline.profile || !baseline.runs.empty());
  const std::vector<Subject> scopes =
      find_scope_subjects(budget, runs, baseline.profile ? &*baseline.profile : nullptr);
  evidence.subjects.insert(evidence.subjects.end(), scopes.begin(), scopes.end());
  if (!baseline.runs.empty()) compare_with_runs(budget, baseline.runs, &evidence);
  for (const Profile& run : runs) evidence.runs.push_back(measure(budget, evidence.subjects, run));
  if (baseline.profile) evidence.baseline = measure(budget, evidence.subjects, *baseline.profile);
  return evidence;
}

std::string spread_text(const Budget& budget, const std::vector<Profile>& runs) {
  constexpr size_t kManyRuns = 5;
  if (runs.size() < 2) return "";
  const std::vector<Subject> subjects = find_subjects(budget, runs[0], true);
  const Tolerance tolerance = tolerance_of(budget);
  std::vector<std::vector<uint64_t>> values;
  for (const Profile& run : runs) values.push_back(measure(budget, subjects, run));
  std::string what;
  Ratio widest;
  double widest_share = 0;
  for (size_t i = 0; i < subjects.size(); ++i) {
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (const std::vector<uint64_t>& run : values) {
      least = std::min(least, run[i]);
      most = std::max(most, run[i]);
    }
    if (most - least <= tolerance.slack(subjects[i].metric)) continue;
    const std::string name = fmt::format("{} {}", escape_controls(subjects[i].device), subject_word(subjects[i]));
    if (least == 0) {
      const bool is_bytes = is_in_bytes(subjects[i].metric);
      return fmt::format("       its {} runs differ: {} is {} to {}\n", runs.size(), name, is_bytes ? "0 B" : "0",
                         is_bytes ? format_bytes(most) : format_count(most));
    }
    const double share = static_cast<double>(most - least) / static_cast<double>(least);
    if (share <= widest_share) continue;
    widest_share = share;
    widest = {most - least, least};
    what = name;
  }
  if (what.empty()) return "";
  std::string text =
      fmt::format("       its {} runs differ by up to {} ({})", runs.size(), format_percent(widest), what);
  if (widest_share * static_cast<double>(tolerance.share.whole) > static_cast<double>(tolerance.share.part))
    text += fmt::format(", more than the tolerance: --tolerance {:.0f}%{}", std::ceil(200 * widest_share),
                        runs.size() < kManyRuns ? fmt::format(", or --runs {}", kManyRuns) : "");
  return text + "\n";
}

}  // namespace heapprof::cli
