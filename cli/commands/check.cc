// cli/commands/check.cc: what follows "--" is a program; what comes before is flags and profiles.
#include "cli/commands/check.h"

#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/flags/suppression_options.h"
#include "cli/write/check/formats.h"

#include <algorithm>
#include <array>

namespace heapprof::cli {
namespace {

struct LimitFlag {
  Metric metric;
  const char* name;
  const char* value;
  const char* text;
};
constexpr std::array<LimitFlag, 5> kLimitFlags = {
    {{Metric::kPeak, "--max-peak", "DEVICE=SIZE", "most live at once, such as host=512MiB"},
     {Metric::kLeaked, "--max-leaked", "DEVICE=SIZE", "most still live at the end"},
     {Metric::kTotal, "--max-total", "DEVICE=SIZE", "most allocated, all in all"},
     {Metric::kAllocations, "--max-allocations", "DEVICE=N", "most blocks allocated"},
     {Metric::kTemporary, "--max-temporary", "DEVICE=N", "most temporary blocks, or 60% of all"}}};

Result<Done> interpret(CheckFlags* flags) {
  for (size_t i = 0; i < kLimitFlags.size(); ++i) {
    for (const std::string& text : flags->limits[i]) {
      const Result<Limit> limit = parse_limit_flag(kLimitFlags[i].name, kLimitFlags[i].metric, text);
      if (!limit) return limit.problem();
      flags->options.limits.push_back(*limit);
    }
  }
  if (!flags->tolerance.empty()) {
    flags->options.tolerance_share = parse_share(flags->tolerance);
    if (!flags->options.tolerance_share) return bad_value("--tolerance", flags->tolerance, "a percentage such as 3%");
  }
  if (flags->slack_bytes != UINT64_MAX) flags->options.slack_bytes = flags->slack_bytes;
  if (!flags->options.program.empty() && !flags->options.profiles.empty())
    return unexpected_argument(flags->options.profiles[0], "check");
  return Done{};
}

}  // namespace

CommandText check_text() {
  return {"check",
          "heapprof check [OPTIONS] FILE... | -- PROGRAM [ARGUMENTS...]",
          "Fail if a program takes more memory than it may.",
          {"heapprof check --max-peak host=512MiB --max-leaked 0B -- ./tests",
           "heapprof check --max-peak 512MiB heapprof.render.4711.json",
           "heapprof check --baseline base.json --tolerance 3% -- ./render",
           "heapprof check --budget heapprof.toml       runs each budget's command",
           "heapprof check --budget heapprof.toml --name render --junit r.xml",
           "heapprof check --contracts contracts.toml"},
          {"exit status: 0 within limits, 1 over one, 2 wrong usage or a bad budget,",
           "3 no whole profile, 4 the program itself failed", "manual: man heapprof-check"}};
}

void declare_check_options(Options* options, CheckFlags* target) {
  CheckOptions* const check = &target->options;
  const char* limits = "limits";
  const char* checking = "checking";
  const char* tools = kLongHelpGroup;
  for (size_t i = 0; i < kLimitFlags.size(); ++i)
    options->add_texts({kLimitFlags[i].name, kLimitFlags[i].value, limits, kLimitFlags[i].text}, &target->limits[i]);
  options->add_text({"--budget", "FILE", limits, "limits of a file, in TOML"}, &check->budget);
  options->add_text({"--contracts", "FILE", limits, "run its statements, and see which hold"}, &check->contracts);
  options->add_text({"--name", "GLOB", limits, "those of its budgets or contracts only"}, &check->name);
  options->add_text({"--baseline", "FILE", limits, "may not grow over this profile, or history"}, &check->baseline);
  options->add_texts({"--scope", "PATH", limits, "… nor what this scope takes and calls"}, &check->scopes);
  options->add_text({"--tolerance", "PERCENT", limits, "… but so much (default 1%)"}, &target->tolerance);
  declare_suppression_options(options, tools, &check->suppressions);
  declare_fold_options(options, tools, "fold nothing: blame wrappers themselves", &check->suppressions);
  options->add_number({"--runs", "N", checking, "run the program N times, judge the median"}, 1, 100, &check->runs);
  options->add_choice<std::optional<ProcessScope>>(
      {"--processes", "WHICH", checking, "judge the one started (default), or each"},
      {{"started", ProcessScope::kStarted}, {"each", ProcessScope::kEach}}, &check->processes);
  options->add_text({"-o,--output", "FILE", checking, "keep the program's profile"}, &check->output);
  options->add_flag({"--allow-sampled", "", kRareGroup, "judge estimates of sampled profiles, too"},
                    &check->allow_sampled);
  options->add_flag({"--warn-only", "", checking, "over a limit is a warning: exit 0"}, &check->warn_only);
  options->add_flag({"--update-budget", "", checking, "raise the file's limits that are exceeded"},
                    &check->update_budget);
  options->add_flag({"--update-baseline", "", checking, "make this the baseline, do not compare"},
                    &check->update_baseline);
  options->add_size({"--slack", "SIZE", kRareGroup, "growth that is never too much (default 4KiB)"}, 0,
                    &target->slack_bytes);
  options->add_text({"--history", "FILE", tools, "append what was measured, for heapprof history"}, &check->history);
  options->add_text({"--commit", "COMMIT", tools, "what --history names it; else as CI or git say"}, &check->commit);
  options->add_flag({"-q,--quiet", "", checking, "say nothing of limits that are kept"}, &check->quiet);
  options->add_color(&check->color);
  options->add_choice<Annotations>(
      {"--annotations", "WHERE", tools, "auto (default), github or none"},
      {{"auto", Annotations::kAuto}, {"github", Annotations::kGithub}, {"none", Annotations::kNone}},
      &check->annotations);
  check->outputs.resize(check_formats().size());
  for (size_t i = 0; i < check_formats().size(); ++i) {
    const CheckFormat& format = check_formats()[i];
    options->add_text({format.flag, format.value, tools, format.text}, &check->outputs[i]);
  }
  options->add_positionals(&check->profiles);
}

int check_main(const std::vector<std::string>& arguments) {
  CheckFlags target;
  Options options(check_text());
  declare_check_options(&options, &target);
  const auto program = std::find(arguments.begin(), arguments.end(), "--");
  if (program != arguments.end()) target.options.program.assign(program + 1, arguments.end());
  Result<Done> parsed = options.parse({arguments.begin(), program});
  if (parsed && options.help()) return print_output(*options.help());
  if (parsed && program != arguments.end() && target.options.program.empty()) parsed = missing_program("check");
  if (parsed) parsed = interpret(&target);
  if (parsed) return check_command(target.options);
  print_problem(parsed.problem(), target.options.color);
  return parsed.problem().exit_code;
}

}  // namespace heapprof::cli
