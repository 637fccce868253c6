// cli/commands/diff.cc: pairs the profiles to be compared, reads them, and renders the changes. Warnings, and problems
// about incomplete profiles, are printed last.
#include "cli/base/atomic_file.h"
#include "cli/base/file_name.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/commands/commands.h"
#include "cli/flags/suppression_options.h"
#include "cli/model/analysis/warnings.h"
#include "cli/model/profile/fields.h"
#include "cli/read/profile_files.h"
#include "cli/read/read_runs.h"
#include "cli/run/names_advice.h"
#include "cli/run/page_files.h"
#include "cli/write/diff/formats.h"
#include "cli/write/html/page.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

struct DiffOptions {
  std::vector<std::string> inputs;
  DiffView view;
  std::string tolerance;
  SuppressionOptions suppressions;
  uint64_t top = 0;
  bool exit_code = false;
  std::string html;  // the page's file; empty: no page
  DiffFormat format = diff_formats()[0];
  ColorMode color = ColorMode::kAuto;
};

using Problems = std::vector<Problem>;  // warnings, and incomplete profiles: printed after the output

void compare_runs(const RunTotals& base, const RunTotals& current, Problems* problems) {
  if (!is_same_command(base, current))
    problems->push_back(different_commands(command_text(base.command), command_text(current.command)));
  if (base.dialect != current.dialect)
    problems->push_back(tools_count_differently(fmt::format("{} is of {}", base.file, dialect_name(base.dialect)),
                                                fmt::format("{} of {}", current.file, dialect_name(current.dialect))));
}

Result<Done> check_view(const TwoProfiles& two, const DiffView& view) {
  std::string names;
  bool is_known = view.device.empty();
  for (const DeviceChange& device : two.diff.devices) {
    names += (names.empty() ? "" : ", ") + device.name;
    is_known = is_known || device.name == view.device;
  }
  if (!is_known) return unknown_device(view.device, names);
  for (const Side side : kSides) {
    if (view.sort && !has_metric(*two.profiles[side], *view.sort))
      return metric_not_in_profile(two.runs[side][0].file, metric_word(*view.sort));
  }
  return Done{};
}

void note_incomplete(const std::vector<RunTotals>& runs, Problems* problems) {
  for (const RunTotals& run : runs) {
    if (!run.complete) problems->push_back(profile_not_whole(run.file, run.incomplete_reason));
  }
}

int finish(const DiffOptions& options, const Problems& problems, const std::string& text, bool grew) {
  int code = print_output(text);
  for (const Problem& problem : problems) {
    print_problem(problem, options.color);
    code = std::max(code, problem.exit_code);
  }
  return code != 0 ? code : options.exit_code && grew ? 1 : 0;
}

// Writes the page instead of the text. Problems are printed and the exit code is set as for the text.
Result<int> save_page(const DiffOptions& options, const TwoProfiles& two, const Problems& problems) {
  Result<AtomicFile> file = AtomicFile::create(options.html);
  if (!file) return file.problem();
  BySide<PageSide> sides;
  for (const Side side : kSides) {
    const std::string& name = two.runs[side][median_run(two.runs[side])].file;
    sides[side] = {two.profiles[side], name, find_warnings(*two.profiles[side], names_adviser(name)),
                   options.suppressions.all_frames};
  }
  write_diff_page(two, options.view, sides, &*file);
  const Result<std::string> path = file->commit();
  if (!path) return path.problem();
  print_saved_page(*path, options.color);
  return finish(options, problems, "", grew(two, options.view));
}

Result<int> diff_files(const DiffOptions& options, const ReportRules& rules) {
  const Suppressions& suppressions = rules.suppressions;
  const std::string& file = options.inputs.back();
  Result<Profile> current = read_marked(file, suppressions);
  if (!current) return current.problem();
  TwoProfiles two;
  two.runs[kCurrent] = {sum_run(*current, file)};
  const RunTotals& run = two.runs[kCurrent][0];
  Result<std::vector<RunTotals>> runs =
      read_base_runs({options.inputs.begin(), options.inputs.end() - 1}, run, suppressions);
  if (!runs) return runs.problem();
  two.runs[kBase] = std::move(*runs);
  // The median base run is read again. The others need not be kept in memory, because only the median's sites are
  // needed, even of a hundred base runs.
  Result<Profile> base = read_marked(two.runs[kBase][median_run(two.runs[kBase])].file, suppressions);
  if (!base) return base.problem();
  mark_folded(rules.folds, std::array<Profile*, 2>{&*base, &*current});
  two.profiles = {&*base, &*current};
  two.diff = diff_profiles(*base, *current);
  if (const Result<Done> checked = check_view(two, options.view); !checked) return checked.problem();
  Problems problems = find_unused_folds(rules.folds, two.profiles, false);
  for (const RunTotals& base_run : two.runs[kBase]) compare_runs(base_run, run, &problems);
  for (const Side side : kSides) {
    note_incomplete(two.runs[side], &problems);
    for (Problem& refused : find_refusals(*two.profiles[side])) problems.push_back(std::move(refused));
  }
  if (!options.html.empty()) return save_page(options, two, problems);
  const Terminal terminal = inspect_terminal(STDOUT_FILENO, options.color);
  return finish(options, problems, options.format.render(two, options.view, terminal), grew(two, options.view));
}

std::string names_without_partner(const TwoSets& two) {
  constexpr size_t kMost = 5;
  std::vector<std::string> files;
  for (const size_t i : two.pairing.base_only) files.push_back(two.runs[kBase][i].file);
  for (const size_t i : two.pairing.current_only) files.push_back(two.runs[kCurrent][i].file);
  std::string text;
  for (size_t i = 0; i < std::min(files.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + files[i];
  return files.size() > kMost ? fmt::format("{} and {} more", text, files.size() - kMost) : text;
}

Result<int> diff_folders(const DiffOptions& options, const Suppressions& suppressions) {
  TwoSets two;
  Problems problems;
  for (const Side side : kSides) {
    two.folders[side] = options.inputs[side];
    const Result<std::vector<std::string>> files = profiles_in(two.folders[side]);
    if (!files) return files.problem();
    Result<std::vector<RunTotals>> runs = read_runs(*files, suppressions);
    if (!runs) return runs.problem();
    two.runs[side] = std::move(*runs);
    note_incomplete(two.runs[side], &problems);
  }
  two.pairing = pair_runs(two.runs[kBase], two.runs[kCurrent]);
  if (two.pairing.pairs.empty()) return no_command_in_both(two.folders[kBase], two.folders[kCurrent]);
  for (const RunPair& pair : two.pairing.pairs)
    compare_runs(two.runs[kBase][pair.base[0]], two.runs[kCurrent][pair.current[0]], &problems);
  if (const std::string files = names_without_partner(two); !files.empty())
    problems.push_back(profiles_without_partner(files));
  const Terminal terminal = inspect_terminal(STDOUT_FILENO, options.color);
  return finish(options, problems, options.format.render_sets(two, options.view, terminal), grew(two, options.view));
}

// A page shows everything: flags that select a part have no meaning there.
Result<Done> check_html(const DiffOptions& options) {
  if (options.html.empty()) return Done{};
  const DiffView& view = options.view;
  for (const auto& [flag, is_given] :
       {std::pair{"--sort", view.sort.has_value()}, std::pair{"--top", options.top > 0}, std::pair{"--all", view.all},
        std::pair{"--device", !view.device.empty()}, std::pair{"--bytes", view.exact_bytes},
        std::pair{"--format", options.format.name != diff_formats()[0].name}}) {
    if (is_given) return flags_exclude_each_other(flag, "--html");
  }
  if (is_folder(options.inputs.back())) return folders_have_no_page(options.inputs.back());
  for (const std::vector<std::string>* files : {&options.inputs, &options.suppressions.files}) {
    for (const std::string& file : *files) {
      if (name_one_file(options.html, file))
        return flags_exclude("--html " + options.html, file, "the page would replace what is read");
    }
  }
  return Done{};
}

Result<int> diff(DiffOptions* options) {
  if (options->inputs.size() < 2) return nothing_to_compare();
  if (const Result<Done> checked = check_html(*options); !checked) return checked.problem();
  if (!options->tolerance.empty()) {
    const std::optional<Ratio> share = parse_percent(options->tolerance);
    if (!share) return bad_value("--tolerance", options->tolerance, "a percentage such as 3%");
    options->view.tolerance.share = *share;
  }
  if (options->top > 0) options->view.top = options->top;
  const Result<ReportRules> rules = load_rules(options->suppressions);
  if (!rules) return rules.problem();
  if (!is_folder(options->inputs.back())) return diff_files(*options, *rules);
  for (const std::string& name : options->inputs) {
    if (!is_folder(name)) return folder_needs_folder(options->inputs.back(), name);
  }
  if (options->inputs.size() > 2) return unexpected_argument(options->inputs[2], "diff");
  return diff_folders(*options, rules->suppressions);
}

void declare_diff_options(Options* options, DiffOptions* target) {
  const char* view = "what is shown";
  Choices<std::optional<Metric>> metrics;
  for (const auto& [word, metric] : kMetricWords) metrics.emplace_back(word, metric);
  options->add_choice<std::optional<Metric>>({"--sort", "METRIC", view, "{}"}, metrics, &target->view.sort);
  options->add_number({"--top", "N", view, "how many places; else 10, json, csv: all"}, 1, 1'000'000, &target->top);
  options->add_flag({"--all", "", view, "also what did not change"}, &target->view.all);
  options->add_text({"--device", "NAME", view, "one device only, such as host"}, &target->view.device);
  declare_suppression_options(options, view, &target->suppressions);
  declare_fold_options(options, view, "fold nothing: show wrappers themselves", &target->suppressions);
  const char* gate = "what counts as a change";
  options->add_text({"--tolerance", "PERCENT", gate, "of the base (default 1%)"}, &target->tolerance);
  options->add_flag({"--exit-code", "", gate, "exit with 1 if something grew beyond it"}, &target->exit_code);
  Choices<DiffFormat> format_choices;
  for (const DiffFormat& format : diff_formats()) format_choices.emplace_back(format.name, format);
  options->add_choice<DiffFormat>({"--format", "FORMAT", "output", "{} (default text)"}, format_choices,
                                  &target->format);
  options->add_text({"--html", "FILE", "output", "both on one page for a browser"}, &target->html);
  options->add_flag({"--bytes", "", "output", "exact bytes, not KiB, MiB, GiB"}, &target->view.exact_bytes);
  options->add_color(&target->color);
  options->add_positionals(&target->inputs);
}

}  // namespace

CommandText diff_text() {
  return {
      "diff",
      "heapprof diff [OPTIONS] BASE... CURRENT",
      "Show what changed between two profiles, and where.",
      {"heapprof diff old.json new.json            what grew, and in which functions",
       "heapprof diff b1.json b2.json new.json        of several the median; the noise",
       "heapprof diff before/ after/                a table, paired by command",
       "heapprof diff --exit-code --tolerance 3% old.json new.json",
       "heapprof diff --format markdown old.json new.json >comment.md"},
      {"exit status: 0; 1 with --exit-code if peak, leaked or allocations (or the metric",
       "of --sort) grew; 2 for wrong usage; 3 for an unreadable or incomplete profile", "manual: man heapprof-diff"}};
}

int diff_main(const std::vector<std::string>& arguments) {
  DiffOptions target;
  Options options(diff_text());
  declare_diff_options(&options, &target);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? diff(&target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
