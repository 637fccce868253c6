// cli/model/judge/history_baseline.cc: see history_baseline.h.
#include "cli/model/judge/history_baseline.h"

#include "cli/model/judge/scope_numbers.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

bool is_of_command(const HistoryEntry& entry, const std::string& name, const std::vector<std::string>& command) {
  if (entry.command.empty()) return entry.name == name;
  Budget asked;
  asked.command = command;
  return is_for_command(asked, entry.command);
}

// The newest values, at most kBaselineRuns; the newest first.
std::vector<uint64_t> last_values(const std::vector<HistoryEntry>& runs, const std::string& device, Metric metric) {
  std::vector<uint64_t> values;
  for (size_t i = runs.size(); i-- > 0 && values.size() < kBaselineRuns;) {
    const std::optional<uint64_t>& value = runs[i].metrics[metric_index(metric)];
    if (runs[i].device == device && value) values.push_back(*value);
  }
  return values;
}

}  // namespace

std::vector<HistoryEntry> runs_of_command(const std::vector<HistoryEntry>& entries, const std::string& name,
                                          const std::vector<std::string>& command) {
  std::vector<HistoryEntry> runs;
  bool is_named = false;
  for (const HistoryEntry& entry : entries) {
    if (!entry.ok.value_or(true) || !is_of_command(entry, name, command)) continue;
    runs.push_back(entry);
    is_named = is_named || entry.name == name;
  }
  if (is_named) std::erase_if(runs, [&](const HistoryEntry& entry) { return entry.name != name; });
  return runs;
}

size_t count_baseline_runs(const std::vector<HistoryEntry>& runs) {
  if (runs.empty()) return 0;
  const std::string& device = runs.back().device;
  const auto of_device = std::count_if(runs.begin(), runs.end(), [&](const auto& run) { return run.device == device; });
  return std::min(kBaselineRuns, static_cast<size_t>(of_device));
}

void compare_with_runs(const Budget& budget, const std::vector<HistoryEntry>& runs, Evidence* evidence) {
  std::vector<Subject> subjects;
  for (const Subject& subject : evidence->subjects) {
    const bool is_known = subject.is_whole() && !subject.is_share;
    std::vector<uint64_t> values;
    if (is_known) values = last_values(runs, subject.device, subject.metric);
    const Subject limited = limited_subject(subject);
    const bool is_limited = std::any_of(budget.limits.begin(), budget.limits.end(),
                                        [&](const Limit& limit) { return limit.subject == limited; });
    if (values.empty() && !is_limited) continue;
    subjects.push_back(subject);
    evidence->is_compared.push_back(!values.empty());
    evidence->baseline.push_back(median(std::move(values)));
  }
  evidence->subjects = std::move(subjects);
}

}  // namespace heapprof::cli
