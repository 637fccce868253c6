// cli/commands/merge.cc: finds the input profiles, adds them up, and writes the sum; alone, or together with the other
// processes of a job step.
#include "cli/base/atomic_file.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/progress.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/merge/merge_inputs.h"
#include "cli/merge/merge_step.h"
#include "cli/model/analysis/group.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/compare/peak_spread.h"
#include "cli/model/profile/invariants.h"
#include "cli/write/profile/dhat.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr size_t kMostNamed = 20;

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string via;
  uint64_t wait_s = 600;
  bool keep = false;
  bool alone = false;
  bool quiet = false;
  bool all_sites = false;
  ColorMode color = ColorMode::kAuto;
};

Result<std::string> write(const Profile& profile, const std::string& path) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return file.problem();
  write_dhat(profile, &*file);
  return file->commit();
}

std::string fit(const std::string& line) {
  const Terminal terminal = inspect_terminal(STDERR_FILENO, ColorMode::kAuto);
  return terminal.is_fitted ? fitted(line, static_cast<size_t>(terminal.columns)) : line;
}

void say(const Profile& profile, const std::string& path) {
  for (const Device& device : profile.devices) {
    if (!profile.has_lifetimes) continue;
    const PeakSpread spread = find_peak_spread(profile, device.name);
    fmt::print(stderr, "{}",
               fit(fmt::format("{}  peaks of {}: {} to {}, median {}, sum {}; {} {}\n",
                               pad_right(escape_controls(device.name), 5), format_counted(spread.parts, "profile"),
                               format_bytes(spread.smallest_bytes), format_bytes(spread.largest_bytes),
                               format_bytes(spread.median_bytes), format_bytes(device.totals.peak_bytes),
                               live_word(profile), format_bytes(device.totals.leaked_bytes))));
  }
  if (const RankCount count = count_ranks(profile); count.ranks != 0)
    fmt::print(stderr, "ranks  {} of {} on {}\n", format_count(count.ranks), escape_controls(count.launcher),
               format_counted(count.hosts, "host"));
  const std::string shown = pasted_file(path, inspect_terminal(STDERR_FILENO, ColorMode::kAuto).utf8);
  fmt::print(stderr, "saved  {}  {}\nnext   heapprof report {}\n", shown,
             format_counted(profile.merged.back().input + uint64_t{1}, "profile"), shown);
}

template <typename Things, typename Name>
std::string named(const Things& things, const Name& name) {
  std::string text;
  for (size_t i = 0; i < std::min(things.size(), kMostNamed); ++i) text += (i == 0 ? "" : ", ") + name(things[i]);
  return things.size() <= kMostNamed ? text : text + fmt::format(" and {} more", things.size() - kMostNamed);
}

void warn_of_ranks(const Profile& profile, const MergeOptions& options) {
  if (count_ranks(profile).ranks == 0) return;
  const std::vector<NotedInput> failed = find_failed_inputs(profile);
  if (!failed.empty()) {
    const auto name = [](const NotedInput& it) { return escape_controls(input_name(*it.part)) + ": " + it.why; };
    print_problem(ranks_failed(failed.size(), named(failed, name)), options.color);
  }
  const MissingRanks missing = find_missing_ranks(profile);
  if (missing.count == 0) return;
  std::string ranks = named(missing.first, [](uint64_t rank) { return fmt::format("{}", rank); });
  if (missing.count > missing.first.size()) ranks += " …";
  print_problem(ranks_missing(missing.count, missing.ranks, ranks), options.color);
}

// Saves a sum, of one process or of a job step. Returns the exit code.
Result<int> save(MergedFiles* merged, const MergeOptions& options) {
  Profile& profile = merged->profile;
  uint64_t left_out = 0;
  for (const ReadFile& file : merged->files) left_out += file.snapshots;
  if (!options.all_sites) group_small_sites(&profile, has_python(profile) ? kPythonGrouping : GroupOptions());
  if (const std::vector<std::string> violations = find_violations(profile); !violations.empty())
    return numbers_disagree(violations[0]);
  const Result<std::string> path = write(profile, options.output);
  if (!path) return path.problem();
  if (!options.quiet) say(profile, *path);
  if (left_out != 0) print_problem(snapshots_not_merged(left_out), options.color);
  warn_of_ranks(profile, options);
  return 0;
}

void say_kept(const std::vector<KeptInput>& kept, size_t copied, const MergeOptions& options) {
  if (options.quiet || kept.empty()) return;
  fmt::print(stderr, "kept   {}/  {} of {}\n", kept_folder(options.output), format_count(copied),
             format_counted(kept.size(), "whole profile"));
  for (size_t i = 0; i < std::min(kept.size(), kMostNamed); ++i)
    fmt::print(stderr, "{}",
               fit(fmt::format("       {}  {}\n", escape_controls(kept[i].name), escape_controls(kept[i].why))));
}

Result<int> merge_alone(const std::vector<std::string>& files, const MergeOptions& options) {
  Progress progress(options.color, options.quiet ? ProgressThread::kNone : ProgressThread::kOwn);
  if (!options.quiet) progress.say("merging");
  Result<MergedFiles> merged = merge_files(files, [&](size_t done) {
    if (!options.quiet) progress.update(done, files.size(), "profiles");
  });
  progress.stop();
  if (!merged) return merged.problem();
  const Result<int> code = save(&*merged, options);
  if (!code || !options.keep) return code;
  const std::vector<KeptInput> kept = choose_kept(merged->profile);
  const Result<size_t> copied = keep_profiles(kept, merged->files, kept_folder(options.output));
  if (!copied) return copied.problem();
  say_kept(kept, *copied, options);
  return code;
}

std::string step_folder(const LauncherStep& step, const MergeOptions& options) {
  const std::string name = "heapprof-merge-" + (step.id.empty() ? "step" : step.id);
  return (options.via.empty() ? options.output + "." : options.via + "/") + name;
}

Result<int> merge_in_step(const LauncherStep& step, std::vector<std::string> files, const MergeOptions& options) {
  const auto say_waiting = [&](const std::string& text) {
    if (!options.quiet) fmt::print(stderr, "heapprof: {}\n", text);
  };
  const auto warn = [&](const Problem& problem) { print_problem(problem, options.color); };
  MergeStep process(
      {step, std::move(files), step_folder(step, options), options.wait_s * 1'000'000'000, say_waiting, warn});
  if (step.rank != 0) {
    const Result<Done> done = process.follow();
    return done ? Result<int>(0) : Result<int>(done.problem());
  }
  Result<StepSum> sum = process.lead();
  const bool has_any = sum && !sum->merged.profile.merged.empty();
  const std::vector<KeptInput> kept = has_any ? choose_kept(sum->merged.profile) : std::vector<KeptInput>();
  const Result<size_t> brought = process.finish(kept, kept_folder(options.output));
  if (!sum) return sum.problem();
  if (!has_any) return folder_without_profiles(options.inputs[0]);
  const Result<int> code = save(&sum->merged, options);
  if (!code) return code;
  if (!brought) return brought.problem();
  say_kept(kept, *brought, options);
  if (sum->missing.empty()) return code;
  const auto name = [](const MissingProcess& it) {
    return fmt::format("{} ({})", it.process, escape_controls(it.why));
  };
  return step_incomplete(options.output, named(sum->missing, name), step.size);
}

Result<int> merge(const MergeOptions& options) {
  if (options.inputs.empty()) return nothing_to_merge();
  if (options.output.empty()) return output_not_named("merge");
  const LauncherStep step = options.alone ? LauncherStep{} : own_step();
  Result<std::vector<std::string>> files = find_inputs(options.inputs, options.output, step.size > 1);
  if (!files) return files.problem();
  return step.size > 1 ? merge_in_step(step, std::move(*files), options) : merge_alone(*files, options);
}

}  // namespace

CommandText merge_text() {
  return {"merge",
          "heapprof merge -o OUT [OPTIONS] FILE...",
          "Add profiles up by site: of processes, ranks, runs.",
          {"heapprof merge -o all.json rank*.json     the ranks of a job",
           "heapprof merge -o all.json profiles/      all *.json and *.json.gz in a folder",
           "srun heapprof merge -o all.json /tmp/prof  each node its own, then all nodes'",
           "heapprof report all.json                  the sums, and whose peak stands out"},
          {"exit status: 0, 1 if OUT cannot be written, 2 for wrong usage or profiles",
           "that do not add up, 3 if one is no profile or damaged, 4 if processes of the", "step are missing in OUT",
           "manual: man heapprof-merge"}};
}

int merge_main(const std::vector<std::string>& arguments) {
  MergeOptions target;
  Options options(merge_text());
  options.add_text({"-o,--output", "OUT", "output", "write the sum to OUT, replacing it"}, &target.output);
  options.add_flag({"--keep", "", "ranks", "copy whole profiles of failed ranks and outliers to OUT.ranks"},
                   &target.keep);
  options.add_text({"--via", "FOLDER", "ranks", "of a step: where its processes meet; else beside OUT"}, &target.via);
  options.add_number({"--wait", "SECONDS", "ranks", "of a step: how long for the others; else 600"}, 1, 1'000'000,
                     &target.wait_s);
  options.add_flag({"--alone", "", "ranks", "merge in this process, though a launcher started several"}, &target.alone);
  options.add_flag({"-q,--quiet", "", "output", "say nothing but errors"}, &target.quiet);
  options.add_flag({"--all-sites", "", "output", "write small sites one by one, not in groups"}, &target.all_sites);
  options.add_color(&target.color);
  options.add_positionals(&target.inputs);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? merge(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
