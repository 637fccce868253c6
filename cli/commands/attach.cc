// cli/commands/attach.cc: the flags of `heapprof attach`: those flags of `run` that apply to a program that is already
// running.
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/flags/sample_option.h"
#include "cli/flags/suppression_options.h"
#include "cli/run/profile_path.h"
#include "cli/run/run.h"
#include "cli/run/snapshot_interval.h"
#include "cli/target/process_facts.h"

#include <signal.h>

#include <cerrno>
#include <charconv>

namespace heapprof::cli {

namespace {

constexpr DurationRange kAttachTimes{1'000'000, 366ull * 24 * 3600 * 1'000'000'000};

struct AttachOptions {
  RunOptions run;
  std::string pid;
  std::string time;
};

void declare_options(Options* options, AttachOptions* target) {
  const char* output = "output";
  const char* recording = "recording";
  const char* testing = "testing";
  RunOptions* run = &target->run;
  options->add_text({"-o,--output", "FILE", output, "write to FILE (may hold %p %n %r %t)"}, &run->output);
  options->add_flag({"-q,--quiet", "", output, "say nothing but errors"}, &run->quiet);
  options->add_flag({"--no-summary", "", output, "leave out the summary; warnings stay"}, &run->no_summary);
  options->add_flag({"--all-sites", "", output, "write small sites one by one, not in groups"}, &run->all_sites);
  options->add_text({"--html", "FILE", kRareGroup, "write a page for a browser, too"}, &run->html);
  options->add_flag({"--no-cache", "", kRareGroup, "neither use nor keep names for later runs"}, &run->no_cache);
  declare_suppression_options(options, output, &run->suppressions);
  declare_fold_options(options, kRareGroup, "fold nothing: show wrappers themselves", &run->suppressions);
  options->add_color(&run->color);
  options->add_text({"--for", "TIME", recording, "detach after TIME; default: at Ctrl-C, or its end"}, &target->time);
  declare_sample_option(options, recording, &run->recorded.interval_bytes);
  options->add_flag({"--no-follow", "", recording, "leave out processes that it starts"}, &run->no_follow);
  options->add_texts({"--follow", "NAME", recording, "only those of this name; repeatable"}, &run->follow_only);
  options->add_choice<OnFull>({"--on-full", "ACTION", recording, "when events come too fast: wait, or drop"},
                              {{"wait", OnFull::kWait}, {"drop", OnFull::kDrop}}, &run->on_full);
  options->add_number({"--stall-timeout", "SECONDS", recording, "longest wait for a stalled heapprof; default 10"}, 1,
                      86'400, &run->stall_timeout_s);
  options->add_size({"--max-memory", "SIZE", recording, "stop recording before heapprof takes so much"}, 16u << 20,
                    &run->max_memory_bytes);
  options->add_text({"--interval", "TIME", recording, "keep snapshots so far apart, and at marks"}, &run->interval);
  options->add_flag({"--no-python", "", kRareGroup, "put no frames of Python into stacks"}, &run->no_python);
  options->add_choice<ClockChoice>(
      {"--clock", "NAME", testing, "order events by auto, tsc or sequence"},
      {{"auto", ClockChoice::kAuto}, {"tsc", ClockChoice::kTsc}, {"sequence", ClockChoice::kSequence}}, &run->clock);
  options->add_choice<ThreadsChoice>(
      {"--collector-threads", "N", testing, "auto, 1 or 2"},
      {{"auto", ThreadsChoice::kAuto}, {"1", ThreadsChoice::kOne}, {"2", ThreadsChoice::kTwo}},
      &run->collector_threads);
  options->add_positional(&target->pid);
}

Result<int> attach(AttachOptions* options) {
  if (options->pid.empty()) return missing_pid("attach");
  pid_t pid = 0;
  const char* const end = options->pid.data() + options->pid.size();
  const auto [rest, error] = std::from_chars(options->pid.data(), end, pid);
  if (error != std::errc{} || rest != end || pid <= 0) return bad_value("PID", options->pid, "the number of a process");
  if (!options->time.empty()) {
    const std::optional<uint64_t> for_ns = parse_duration(options->time, kAttachTimes);
    if (!for_ns) return bad_attach_time(options->time);
    options->run.attach_for_ns = *for_ns;
  }
  if (const Result<Done> checked = check_name_pattern(options->run.output); !checked) return checked.problem();
  if (!options->run.interval.empty()) {
    const Result<uint64_t> interval_ns = parse_snapshot_interval(options->run.interval);
    if (!interval_ns) return interval_ns.problem();
    options->run.snapshot_interval_ns = *interval_ns;
  }
  if (::kill(pid, 0) != 0 && errno == ESRCH) return process_not_found(options->pid);
  options->run.attach_pid = pid;
  options->run.program = process_command(pid);
  // If a program has written its title over its arguments, empty arguments follow the title.
  while (options->run.program.size() > 1 && options->run.program.back().empty()) options->run.program.pop_back();
  if (options->run.program.empty()) options->run.program = {process_executable(pid)};
  if (options->run.program[0].empty()) options->run.program[0] = "process";
  return run_command(options->run);
}

}  // namespace

CommandText attach_text() {
  return {
      "attach",
      "heapprof attach [OPTIONS] PID",
      "Profile a program that runs already, for a while or until its end.",
      {"heapprof attach 4711                    until Ctrl-C, or its end", "heapprof attach --for 30s -o a.json 4711"},
      {"exit status: 0, 1 if it cannot be attached to, 2 for wrong usage", "manual: man heapprof-attach"}};
}

int attach_main(const std::vector<std::string>& arguments) {
  AttachOptions target;
  Options options(attach_text());
  declare_options(&options, &target);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? attach(&target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.run.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
