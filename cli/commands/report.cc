// cli/commands/report.cc: reads a profile, checks that it has what the flags ask for, renders it.
#include "cli/commands/report.h"

#include "cli/base/file_name.h"
#include "cli/base/function_name.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/critical_path.h"
#include "cli/model/analysis/findings.h"
#include "cli/model/analysis/frame_name.h"
#include "cli/model/analysis/moment.h"
#include "cli/model/analysis/scope_paths.h"
#include "cli/model/analysis/warnings.h"
#include "cli/model/judge/scope_numbers.h"
#include "cli/read/profile_files.h"
#include "cli/read/read_categories.h"
#include "cli/read/read_profile.h"
#include "cli/read/source_file.h"
#include "cli/run/name_profile.h"
#include "cli/run/names_advice.h"
#include "cli/run/page_files.h"
#include "cli/write/html/page.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/report/scopes/scope_sections.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

namespace heapprof::cli {
namespace {

Result<Done> check_view(const Profile& profile, const ReportView& view) {
  if (shown_devices(profile, view).empty()) {
    std::string names;
    for (const Device& device : profile.devices) names += (names.empty() ? "" : ", ") + device.name;
    return unknown_device(view.device, names);
  }
  for (const auto& [name, metric] : kMetricWords) {
    if (view.sort == metric && !has_metric(profile, metric)) return metric_not_in_profile(view.file, name);
  }
  if (view.findings && !can_have_findings(profile)) return findings_need_ours(view.file);
  if (!view.instances.empty() && find_scopes_meant(profile.scopes, view.instances).empty()) {
    const std::vector<std::string> nearest = ScopeNumbers(profile).nearest(view.instances, 1);
    return no_scope_of_name(view.file, view.instances, nearest.empty() ? "" : nearest[0]);
  }
  if (view.critical_path && !has_runs(profile.scopes))
    return no_runs_of_scopes(view.file, !profile.scopes.scopes.empty());
  return Done{};
}

// Two sets of flags that exclude each other.
struct Exclusion {
  std::string_view these;
  std::string_view those;
};
constexpr Exclusion kExclusions[] = {
    {"--sort --top --tree --sizes --threads --packages --scopes --stable --instances --critical-path --snapshots "
     "--findings --list-suppressions --source --device --format --bytes --table",
     "--html"},  // a page shows everything
    {"--table",
     "--tree --sizes --threads --packages --findings --scopes --stable --critical-path --snapshots --source "
     "--list-suppressions"},
    {"--scopes --stable --instances --critical-path",
     "--tree --sizes --threads --packages --findings --source --sort --list-suppressions --device"},
    {"--stable", "--instances --critical-path"},
    {"--tree --list-suppressions", "--sizes --threads --packages --source"},
    {"--snapshots",
     "--tree --sizes --threads --packages --findings --scopes --stable --instances --critical-path --source --sort "
     "--list-suppressions"},
    {"--all-frames", "--threads"},
    {"--findings", "--tree --sort --sizes --threads --packages --source --list-suppressions"},
    {"--source", "--sizes --threads --packages --between --categories"},
};

bool is_in(std::string_view flags, std::string_view flag) {
  const size_t at = flags.find(flag);
  if (at == std::string_view::npos) return false;
  const size_t end = at + flag.size();
  return (end == flags.size() || flags[end] == ' ') || is_in(flags.substr(end), flag);
}

// Refuses flags that have no meaning together.
Result<Done> check_exclusions(const ReportOptions& options) {
  const ReportView& view = options.view;
  const std::pair<const char*, bool> flags[] = {
      {"--tree", view.tree},
      {"--sizes", view.sizes},
      {"--threads", view.threads},
      {"--packages", view.packages},
      {"--findings", view.findings},
      {"--scopes", view.scopes},
      {"--stable", view.stable},
      {"--instances", !view.instances.empty()},
      {"--critical-path", view.critical_path},
      {"--snapshots", view.snapshots},
      {"--source", !view.source.empty()},
      {"--list-suppressions", view.list_suppressions},
      {"--sort", view.sort.has_value()},
      {"--top", view.top.has_value()},
      {"--device", !view.device.empty()},
      {"--all-frames", options.suppressions.all_frames},
      {"--between", !options.between.empty()},
      {"--categories", !options.categories.empty()},
      {"--table", options.table != nullptr},
      {"--format", options.format != &report_formats().front()},
      {"--bytes", view.exact_bytes},
      {"--html", !options.html.empty()},
  };
  for (const Exclusion& exclusion : kExclusions) {
    for (const auto& [flag, is_given] : flags) {
      if (!is_given || !is_in(exclusion.these, flag)) continue;
      for (const auto& [other, is_other_given] : flags) {
        if (is_other_given && is_in(exclusion.those, other)) return flags_exclude_each_other(flag, other);
      }
    }
  }
  return Done{};
}

// Refuses flags whose content the format cannot show, and flags that need another flag.
Result<Done> check_format(const ReportOptions& options) {
  const ReportView& view = options.view;
  const ReportFormat& format = *options.format;
  const std::string asked = fmt::format("--format {}", format.name);
  if (options.table != nullptr && format.render_table == nullptr) return flag_needs_another("--table", "--format csv");
  const bool has_words = format.render_findings != nullptr;
  for (const auto& [flag, is_given, is_shown] : {
           std::tuple{"--scopes", view.scopes, has_words || format.is_of_scopes},
           std::tuple{"--stable", view.stable, has_words || format.is_of_scopes},
           std::tuple{"--instances", !view.instances.empty() && options.table == nullptr, has_words},
           std::tuple{"--critical-path", view.critical_path, has_words},
           std::tuple{"--snapshots", view.snapshots, format.render_snapshots != nullptr},
           std::tuple{"--packages", view.packages, has_words},
           std::tuple{"--threads", view.threads, has_words},
           std::tuple{"--source", !view.source.empty(), &format == &report_formats().front()},
       }) {
    if (is_given && !is_shown) return flags_exclude_each_other(flag, asked);
  }
  if (view.findings && !has_words) return findings_not_in_format(format.name);
  if (format.is_of_scopes && !view.scopes && !view.stable) return flag_needs_another(asked, "--scopes");
  const bool is_part = options.table != nullptr || !options.html.empty();
  if (!options.categories.empty() && !is_part && !is_about_scopes(view))
    return flag_needs_another("--categories", "--scopes");
  if (!view.snapshots && options.table == nullptr && !options.between.empty())
    return flag_needs_another("--between", "--snapshots");
  return Done{};
}

// The profile to show if none was named. An empty name, as from a script's unset variable, is an error.
Result<std::string> choose_file(const std::vector<std::string>& files) {
  if (!files.empty() && !files[0].empty()) return files[0];
  if (!files.empty()) return missing_profile("report");
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  const std::optional<std::string> newest = newest_profile(".");
  if (!newest) return missing_profile("report", error ? "this folder" : folder);
  const std::string file = newest->starts_with('-') ? "./" + *newest : *newest;
  fmt::print(stderr, "heapprof: {} is the newest profile here\n", escape_controls(file));
  return file;
}

// The paths of the other profiles of the same run; empty for missing files. The profile is not trusted: absolute paths
// in it are ignored, and only as many of its entries are used as a run ever lists.
std::vector<std::string> find_others(const Profile& profile, const std::string& file) {
  constexpr size_t kMost = 100;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::vector<std::string> found(profile.run.processes.size());
  for (size_t i = 0; i < std::min(found.size(), kMost); ++i) {
    const std::filesystem::path name = profile.run.processes[i].file;
    if (name.empty() || name.is_absolute()) continue;
    std::string path = (folder / name).string();
    if (path.starts_with('-')) path.insert(0, "./");
    if (access(path.c_str(), R_OK) == 0) found[i] = std::move(path);
  }
  return found;
}

// The text for --source, for all devices that have memory there.
Result<std::string> source_report(const Profile& profile, const ReportView& view, const Terminal& terminal) {
  constexpr size_t kMostFiles = 5;
  std::string name = view.source;
  if (name.starts_with("./")) name.erase(0, 2);
  if (name.starts_with("../")) name = std::filesystem::path(absolute_path(name)).lexically_normal().string();
  const std::vector<bool> frames = find_source_frames(profile, name);
  std::vector<std::string> known;
  bool has_lines = false;
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[i];
    has_lines = has_lines || (!frames.empty() && frames[i] && frame.line != 0 && !frame.file.empty());
    if (!frames.empty()) continue;
    if (!frame.file.empty()) known.push_back(base_name(frame.file));
    known.push_back(last_two_parts(frame_name(profile, frame)));
  }
  if (!has_lines) return no_source_of_name(view.file, view.source, nearest_word(name, known), !frames.empty());
  const PlaceTree tree = build_place_tree(profile);
  const FrameNames names(profile, tree);
  const Metric metric = view.sort.value_or(profile.has_lifetimes ? Metric::kPeak : Metric::kTotal);
  std::string text;
  for (const Device* device : shown_devices(profile, view)) {
    std::vector<SourceLines> files = find_source_lines(profile, tree, *device, metric, frames);
    const size_t count = std::min(files.size(), view.top.value_or(kMostFiles));
    for (size_t i = 0; i < count; ++i) {
      AnnotatedSource shown{std::move(files[i]), {}, ""};
      SourceFile source = read_source_file(profile, shown.lines);
      shown.remarks = std::move(source.remarks);
      shown.text = std::move(source.text);
      if (!text.empty()) text += "\n";
      text += source_text(
          profile, names, *device, shown,
          {metric, view.exact_bytes, terminal.colored, terminal.is_fitted ? static_cast<size_t>(terminal.columns) : 0});
    }
    if (count < files.size())
      text += fmt::format("\n{} more: --top, or more of the path\n", format_counted(files.size() - count, "file"));
  }
  if (text.empty()) text = fmt::format("nothing there counts as {}\n", shown_metric(metric, live_word(profile)));
  return terminal.utf8 ? text : to_ascii(text);
}

// The exit code for what was shown, or why it could not be shown.
Result<int> show_report(const ReportOptions& options) {
  if (options.files.size() > 1) return one_profile_too_many(options.files[0], options.files[1]);
  ReportView view = options.view;
  if (const Result<Done> checked = check_exclusions(options); !checked) return checked.problem();
  if (const Result<Done> checked = check_format(options); !checked) return checked.problem();
  Result<ReportRules> rules = load_rules(options.suppressions);
  if (!rules) return rules.problem();
  view.suppressions = std::move(rules->suppressions);
  view.all_frames = options.suppressions.all_frames;
  const Result<std::string> file = choose_file(options.files);
  if (!file) return file.problem();
  if (name_one_file(options.html, *file))
    return flags_exclude("--html " + options.html, *file, "the page would replace the profile");
  std::vector<std::string> rule_files = options.suppressions.files;
  rule_files.push_back(options.categories);
  for (const std::string& rule_file : rule_files) {
    if (name_one_file(options.html, rule_file))
      return flags_exclude("--html " + options.html, rule_file, "the page would replace the rules");
  }
  view.file = *file;
  if (!options.categories.empty()) {
    Result<std::vector<CategoryRule>> categories = read_categories(options.categories);
    if (!categories) return categories.problem();
    view.categories = std::move(*categories);
  }
  Result<Profile> profile = read_profile(view.file);
  if (!profile) return profile.problem();
  if (is_bare_checkpoint(*profile)) {
    unsetenv("DEBUGINFOD_URLS");  // a report downloads nothing unasked
    name_profile({}, &*profile);
  }
  if (!view.categories.empty()) give_categories(view.categories, &profile->scopes);
  if (const Result<Done> checked = check_view(*profile, view); !checked) return checked.problem();
  if (!options.between.empty()) {
    const Result<SnapshotPair> pair = find_snapshot_pair(*profile, options.between, view.file);
    if (!pair) return pair.problem();
    view.between = *pair;
  }
  view.others = find_others(*profile, view.file);
  mark_suppressed(view.suppressions, &*profile);
  mark_folded(rules->folds, &*profile);
  const Profile* const shown[] = {&*profile};
  const std::vector<Problem> unused = find_unused_folds(rules->folds, shown, view.list_suppressions);
  if (!options.html.empty()) {
    const Result<std::string> saved = save_report_page(
        {&*profile, view.file, find_warnings(*profile, names_adviser(view.file)), view.all_frames}, options.html);
    if (!saved) return saved.problem();
    print_saved_page(*saved, options.color);
    for (const Problem& rule : unused) print_problem(rule, options.color);
    return 0;
  }
  std::string source;
  if (!view.source.empty()) {
    Result<std::string> annotated = source_report(*profile, view, inspect_terminal(STDOUT_FILENO, options.color));
    if (!annotated) return annotated.problem();
    source = std::move(*annotated);
  }
  const Renderer render = view.findings    ? options.format->render_findings
                          : view.snapshots ? options.format->render_snapshots
                                           : options.format->render;
  const auto shown_text = [&] {
    if (!source.empty()) return source;
    if (options.table != nullptr)
      return options.format->render_table(options.table->name, make_table(*options.table, *profile, view));
    return render(*profile, view, inspect_terminal(STDOUT_FILENO, options.color));
  };
  const bool says_that_it_is_sampled = render == render_report_text && options.table == nullptr && source.empty();
  const int code = print_output(shown_text());
  for (const Problem& warning : find_warnings(*profile, names_adviser(view.file))) {
    // warnings come last, where the user of a terminal sees them
    if (!says_that_it_is_sampled || warning.id != "HP295") print_problem(warning, options.color);
  }
  for (const Problem& rule : unused) print_problem(rule, options.color);
  return code;
}

}  // namespace

CommandText report_text() {
  return {"report",
          "heapprof report [OPTIONS] [FILE]",
          "Show where peak, temporary and lasting memory comes from.",
          {"heapprof report heapprof.render.4711.json",
           "heapprof report                               the newest profile here",
           "heapprof report --tree --sort total r.json    the call tree, by total bytes",
           "heapprof report --findings r.json             known problems, and what helps",
           "heapprof report --source tile.cc r.json       its source, with bytes by line",
           "heapprof report --format csv r.json >r.csv    all places, for a spreadsheet",
           "heapprof report --table scopes --format csv r.json",
           "heapprof report --scopes --format dot r.json  the scopes, for Graphviz",
           "heapprof report dhat.out.4711                 of valgrind --tool=dhat, dhat-rs"},
          {"exit status: 0, 2 for wrong usage, 3 if FILE is no profile or damaged", "manual: man heapprof-report"}};
}

void declare_report_options(Options* options, ReportOptions* target) {
  const char* view = "what is shown";
  options->add_choice<std::optional<Metric>>({"--sort", "METRIC", view, "{}"},
                                             {kMetricWords.begin(), kMetricWords.end()}, &target->view.sort);
  options->add_number({"--top", "N", view, "how many places; else 10, json, csv: all"}, 1, 1'000'000, &target->top);
  options->add_flag({"--tree", "", view, "the call tree, cut at 1 %"}, &target->view.tree);
  declare_fold_options(options, view, "also std, allocator, runtime; fold nothing", &target->suppressions);
  options->add_flag({"--sizes", "", view, "of what sizes the places' blocks were, as bars"}, &target->view.sizes);
  options->add_flag({"--threads", "", view, "what each thread allocated and freed"}, &target->view.threads);
  options->add_flag({"--packages", "", kRareGroup, "whose code asked for the memory: by library"},
                    &target->view.packages);
  options->add_text({"--source", "NAME", view, "a file's or function's source, by line"}, &target->view.source);
  options->add_flag({"--scopes", "", view, "the program's own scopes and marks"}, &target->view.scopes);
  options->add_flag({"--stable", "", kRareGroup, "scopes alone, without what varies by run"}, &target->view.stable);
  options->add_text({"--categories", "FILE", kRareGroup, "give scopes categories by their names"}, &target->categories);
  options->add_text({"--instances", "SCOPE", kRareGroup, "its slowest and most growing runs"}, &target->view.instances);
  options->add_flag({"--critical-path", "", kRareGroup, "runs that made up the time, of all threads"},
                    &target->view.critical_path);
  options->add_flag({"--snapshots", "", view, "those of run --interval, and what grew"}, &target->view.snapshots);
  options->add_text({"--between", "A..B", view, "two snapshots, by number or mark"}, &target->between);
  declare_suppression_options(options, view, &target->suppressions);
  options->add_flag({"--list-suppressions", "", kRareGroup, "what each rule suppressed, or that it did not"},
                    &target->view.list_suppressions);
  options->add_flag({"--findings", "", view, "what looks like a known problem, and what helps"},
                    &target->view.findings);
  options->add_text({"--device", "NAME", view, "one device only, such as host"}, &target->view.device);
  Choices<const ReportFormat*> format_choices;
  for (const ReportFormat& format : report_formats()) format_choices.emplace_back(format.name, &format);
  options->add_choice<const ReportFormat*>({"--format", "FORMAT", "output", "{} (default text)"}, format_choices,
                                           &target->format);
  options->add_text({"--html", "FILE", "output", "one page for a browser, which needs no network"}, &target->html);
  Choices<const ReportTable*> table_choices;
  for (const ReportTable& table : report_tables()) table_choices.emplace_back(table.name, &table);
  options->add_choice<const ReportTable*>({"--table", "TABLE", kRareGroup, "with csv or json, one of: {}"},
                                          table_choices, &target->table);
  options->add_flag({"--bytes", "", "output", "exact bytes, not KiB, MiB, GiB"}, &target->view.exact_bytes);
  options->add_color(&target->color);
  options->add_positionals(&target->files);
}

int report_main(const std::vector<std::string>& arguments) {
  ReportOptions target;
  target.format = &report_formats().front();
  Options options(report_text());
  declare_report_options(&options, &target);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  if (target.top > 0) target.view.top = target.top;
  const Result<int> code = parsed ? show_report(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
