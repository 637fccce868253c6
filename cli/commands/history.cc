// cli/commands/history.cc: reads the entries and shows their trends; with --add, makes entries from profiles and
// appends them.
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/check/check_outputs.h"
#include "cli/commands/commands.h"
#include "cli/flags/suppression_options.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/sampling.h"
#include "cli/model/judge/history_series.h"
#include "cli/model/judge/verdict.h"
#include "cli/read/read_history.h"
#include "cli/read/read_profile.h"
#include "cli/read/read_suppressions.h"
#include "cli/write/history/append_history.h"
#include "cli/write/history/formats.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>

namespace heapprof::cli {
namespace {

struct HistoryOptions {
  std::vector<std::string> files;  // the history, then profiles
  bool add = false;
  std::string commit;
  SuppressionOptions suppressions;  // for the profiles
  HistoryFilter filter;
  bool exact_bytes = false;
  bool quiet = false;
  HistoryFormat format = history_formats()[0];
  ColorMode color = ColorMode::kAuto;
};

// "name 'x', device cuda:0, metric leaked": what was asked for.
std::string filter_text(const HistoryFilter& filter) {
  std::string text;
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, value);
  };
  add("name", filter.name);
  add("device", filter.device);
  add("metric", filter.metric ? metric_word(*filter.metric) : "");
  return text.empty() ? "any metric" : text;
}

std::string known_names(const std::vector<HistoryEntry>& entries) {
  constexpr size_t kMostShown = 8;
  std::set<std::string> names;
  for (const HistoryEntry& entry : entries) names.insert(entry.name + " on " + entry.device);
  std::string text;
  size_t shown = 0;
  for (const std::string& name : names) {
    if (shown++ == kMostShown) return text + fmt::format(", and {} more", names.size() - kMostShown);
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

constexpr int kBadFile = 3;

Result<int> show(const HistoryOptions& options) {
  const std::string& file = options.files[0];
  const Result<History> history = read_history(file);
  if (!history) return history.problem();
  HistoryView view;
  view.file = file;
  view.entries = &history->entries;
  view.series = find_series(history->entries, options.filter);
  view.lines_skipped = history->lines_skipped;
  view.exact_bytes = options.exact_bytes;
  if (view.series.empty() && !history->entries.empty())
    return nothing_in_history(file, filter_text(options.filter), known_names(history->entries));
  const int code = print_output(options.format.render(view, inspect_terminal(STDOUT_FILENO, options.color)));
  for (const Problem& warning : history->warnings) print_problem(warning, options.color);
  if (history->entries.empty() && history->lines_skipped > 0) return kBadFile;
  return code;
}

// Removes from *entries those that the history file already has for the same run, device and name. Returns their
// number.
size_t leave_out_known(const std::string& file, std::vector<HistoryEntry>* entries) {
  if (access(file.c_str(), R_OK) != 0) return 0;
  const Result<History> history = read_history(file);
  if (!history) return 0;  // append_history() reports why
  return std::erase_if(*entries, [&history](const HistoryEntry& fresh) {
    return std::any_of(history->entries.begin(), history->entries.end(), [&fresh](const HistoryEntry& known) {
      return fresh.time_unix_ns != 0 && known.time_unix_ns == fresh.time_unix_ns && known.name == fresh.name &&
             known.command == fresh.command && known.device == fresh.device && known.metrics == fresh.metrics;
    });
  });
}

Result<int> add(const HistoryOptions& options) {
  const std::string& file = options.files[0];
  if (options.files.size() < 2) return nothing_to_add(file);
  const Result<ReportRules> rules = load_rules(options.suppressions);
  if (!rules) return rules.problem();
  const std::string commit = find_commit(options.commit);
  std::vector<HistoryEntry> entries;
  for (size_t i = 1; i < options.files.size(); ++i) {
    Result<Profile> profile = read_profile(options.files[i]);
    if (!profile) return profile.problem();
    const RunState state = find_run_state(*profile);
    if (state.trouble == Trouble::kIncomplete) return profile_not_whole(options.files[i], state.reason);
    if (state.trouble == Trouble::kProgramFailed) return checked_program_failed(options.files[i], end_text(state.end));
    if (const std::string why = why_partial(*profile); !why.empty()) {
      Problem problem = profile_is_partial(options.files[i], why);
      problem.instead.clear();
      return problem;
    }
    mark_suppressed(rules->suppressions, &*profile);
    const std::string name = options.filter.name.empty() ? history_name(*profile) : options.filter.name;
    for (const Device& device : profile->devices) entries.push_back(make_history_entry(*profile, device, name, commit));
  }
  const size_t there_count = leave_out_known(file, &entries);
  if (!entries.empty()) {
    if (const Result<Done> added = append_history(file, entries); !added) return added.problem();
  }
  if (options.quiet) return 0;
  const std::string shown = pasted_file(file, inspect_terminal(STDERR_FILENO, ColorMode::kAuto).utf8);
  if (!entries.empty())
    fmt::print(stderr, "added  {} to {}, commit {}\n", format_counted(entries.size(), "entry"), shown,
               commit.empty() ? "unknown" : escape_controls(commit));
  if (there_count != 0)
    fmt::print(stderr, "left   {} of runs that {} has already\n", format_counted(there_count, "entry"), shown);
  fmt::print(stderr, "next   heapprof history {}\n", shown);
  return 0;
}

Result<int> run(const HistoryOptions& options) {
  if (options.files.empty()) return history_not_named();
  if (options.add) return add(options);
  if (options.files.size() > 1) return unexpected_argument(options.files[1], "history");
  return show(options);
}

}  // namespace

CommandText history_text() {
  return {"history",
          "heapprof history [OPTIONS] FILE.jsonl",
          "Show what runs took over time: steps, their commits, slow drift.",
          {"heapprof history ci/heapprof.jsonl", "heapprof history --name 'render*' --metric peak ci/heapprof.jsonl",
           "heapprof history --add ci/heapprof.jsonl heapprof.*.json    add profiles"},
          {"exit status: 0, 1 if nothing can be added, 2 for wrong usage, 3 if FILE.jsonl",
           "or a profile cannot be read", "manual: man heapprof-history"}};
}

int history_main(const std::vector<std::string>& arguments) {
  HistoryOptions target;
  Options options(history_text());
  const char* what = "what is shown";
  options.add_text({"--name", "GLOB", what, "budgets or programs of this name, a glob"}, &target.filter.name);
  options.add_text({"--device", "NAME", what, "one device, such as host"}, &target.filter.device);
  options.add_choice<std::optional<Metric>>({"--metric", "METRIC", what, "{}"},
                                            {kMetricWords.begin(), kMetricWords.end()}, &target.filter.metric);
  Choices<HistoryFormat> format_choices;
  for (const HistoryFormat& format : history_formats()) format_choices.emplace_back(format.name, format);
  options.add_choice<HistoryFormat>({"--format", "FORMAT", "output", "{} (default text)"}, format_choices,
                                    &target.format);
  options.add_flag({"--bytes", "", "output", "exact bytes, not KiB, MiB, GiB"}, &target.exact_bytes);
  const char* adding = "adding";
  options.add_flag({"--add", "", adding, "append what the named profiles took"}, &target.add);
  options.add_text({"--commit", "COMMIT", adding, "of these profiles; else as CI or git say"}, &target.commit);
  declare_suppression_options(&options, adding, &target.suppressions);
  options.add_flag({"-q,--quiet", "", adding, "say nothing but errors"}, &target.quiet);
  options.add_color(&target.color);
  options.add_positionals(&target.files);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? run(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
