// cli/commands/run.cc: arguments before the program are heapprof's; everything from the program on is the program's.
#include "cli/commands/run.h"

#include "cli/base/file_name.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/units.h"
#include "cli/flags/sample_option.h"
#include "cli/flags/suppression_options.h"
#include "cli/run/device_limits.h"
#include "cli/run/profile_path.h"
#include "cli/run/snapshot_interval.h"

#include <unistd.h>

namespace heapprof::cli {

CommandText run_text() {
  return {
      "run",
      "heapprof run [OPTIONS] [--] PROGRAM [ARGUMENTS...]",
      "Run a program, record every allocation, show a summary.",
      {"heapprof run ./render scene.usd          profile to heapprof.render.PID.json",
       "heapprof run -o r.json -- ./render -x    profile to r.json; -x is render's",
       "heapprof run --no-follow make test       make itself, not what it starts"},
      {"exit status: the program's own; 128+N if signal N ended it; 125 if heapprof",
       "could not profile it, 126 if PROGRAM cannot be executed, 127 if it is not found", "manual: man heapprof-run"}};
}

namespace {

constexpr DurationRange kStartTimes{1'000'000, 366ull * 24 * 3600 * 1'000'000'000};

Result<StartRule> parse_start(const std::string& text) {
  constexpr std::string_view kAfter = "after=", kAtMark = "at=mark:";
  if (text.empty()) return StartRule{};
  if (text == "paused") return StartRule{StartKind::kPaused, 0, ""};
  if (text.starts_with(kAtMark) && text.size() > kAtMark.size())
    return StartRule{StartKind::kAtMark, 0, text.substr(kAtMark.size())};
  if (text.starts_with(kAfter)) {
    if (const std::optional<uint64_t> after_ns = parse_duration(text.substr(kAfter.size()), kStartTimes))
      return StartRule{StartKind::kAfter, *after_ns, ""};
  }
  return bad_start(text);
}

// Finds flags that exclude each other: two outputs to one file, or a flag that needs all blocks with a flag that
// records only some.
std::optional<Problem> find_excluded(const RunOptions& options) {
  const std::pair<const char*, const std::string&> outputs[] = {
      {"-o", options.output}, {"--html", options.html}, {"--child-output", options.child_output}};
  for (size_t i = 0; i < std::size(outputs); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (name_one_file(outputs[i].second, outputs[k].second))
        return flags_exclude(outputs[i].first, outputs[k].first, "both name the file " + outputs[k].second);
    }
  }
  const bool is_sampled = options.recorded.interval_bytes != 0;
  if (!is_sampled && options.start.kind == StartKind::kAtOnce) return std::nullopt;
  const std::string flag = is_sampled ? "--sample" : "--start";
  if (options.leak_check)
    return flags_exclude(flag, "--leak-check", "which block leads to which others is known only where all are");
  if (options.python_objects && is_sampled)
    return flags_exclude(flag, "--python-objects", "objects are recorded one by one, as those that hold them are");
  return std::nullopt;
}

}  // namespace

void declare_run_options(Options* options, RunOptions* target) {
  const char* output = "output";
  const char* recording = "recording";
  const char* testing = "testing";
  options->add_text({"-o,--output", "FILE", output, "write to FILE (may hold %p %n %r %t)"}, &target->output);
  options->add_flag({"--live", "", kRareGroup, "watch it live; needs --child-output"}, &target->live);
  options->add_text({"--serve", "ADDRESS", kRareGroup, "serve it over HTTP while it runs: [ADDR:]PORT"},
                    &target->serve);
  options->add_text({"--token-file", "FILE", kRareGroup, "who asks that server needs the token in it"},
                    &target->token_file);
  options->add_text({"--child-output", "FILE", kRareGroup, "PROGRAM's output and errors go to FILE"},
                    &target->child_output);
  options->add_flag({"-q,--quiet", "", output, "say nothing but errors"}, &target->quiet);
  options->add_flag({"--no-summary", "", output, "leave out the summary; warnings stay"}, &target->no_summary);
  options->add_flag({"--all-sites", "", output, "write small sites one by one, not in groups"}, &target->all_sites);
  options->add_text({"--html", "FILE", kRareGroup, "write a page for a browser, too"}, &target->html);
  options->add_flag({"--no-cache", "", kRareGroup, "neither use nor keep names for later runs"}, &target->no_cache);
  declare_suppression_options(options, output, &target->suppressions);
  declare_fold_options(options, kRareGroup, "fold nothing: show wrappers themselves", &target->suppressions);
  options->add_color(&target->color);
  options->add_flag({"--leak-check", "", recording, "tell apart what is live at exit: lost, or not"},
                    &target->leak_check);
  options->add_flag({"--no-follow", "", recording, "leave out processes that PROGRAM starts"}, &target->no_follow);
  options->add_texts({"--follow", "NAME", recording, "only those of this name; repeatable"}, &target->follow_only);
  options->add_flag({"--all-processes", "", kRareGroup, "keep profiles of many small processes, too"},
                    &target->all_processes);
  options->add_wait({"--wait", "[=SECONDS]", recording, "stay until they have ended too"}, 86'400, &target->wait);
  options->add_choice<OnFull>({"--on-full", "ACTION", recording, "when events come too fast: wait, or drop"},
                              {{"wait", OnFull::kWait}, {"drop", OnFull::kDrop}}, &target->on_full);
  options->add_number({"--stall-timeout", "SECONDS", recording, "longest wait for a stalled heapprof; default 10"}, 1,
                      86'400, &target->stall_timeout_s);
  options->add_flag({"--no-nvtx", "", kRareGroup, "make no scopes of NVTX's ranges"}, &target->no_nvtx);
  options->add_flag({"--no-python", "", kRareGroup, "put no frames of Python into stacks"}, &target->no_python);
  options->add_flag({"--no-inner-allocators", "", kRareGroup, "do not hook allocators inside programs"},
                    &target->no_inner_allocators);
  options->add_size({"--max-memory", "SIZE", recording, "stop recording before heapprof takes so much"}, 16u << 20,
                    &target->max_memory_bytes);
  declare_sample_option(options, recording, &target->recorded.interval_bytes);
  options->add_text({"--start", "WHEN", recording, "paused, after=TIME, or at=mark:NAME"}, &target->start_text);
  options->add_texts({"--limit", "DEVICE=SIZE", recording, "let it have so much of cuda:N or host"}, &target->limits);
  options->add_text({"--interval", "TIME", recording, "keep snapshots so far apart, and at marks"}, &target->interval);
  options->add_number({"--device-trace", "N", kRareGroup, "keep the newest N events of devices; 0: none"}, 0,
                      kMostTraceEvents, &target->trace_events);
  options->add_flag({"--python-objects", "", kRareGroup, "record each Python object, inside other memory"},
                    &target->python_objects);
  options->add_flag({"--torch-ops", "", kRareGroup, "make scopes of PyTorch's operators"}, &target->torch_operators);
  options->add_flag({"--estimate-gpu", "", kRareGroup, "ask what CUDA contexts and modules take; waits"},
                    &target->estimates_gpu);
  options->add_choice<wire::GpuTimeMode>(
      {"--gpu-time", "WHEN", kRareGroup, "kernels: off, deferred, scope, or immediate"},
      {{"off", wire::GpuTimeMode::kOff},
       {"deferred", wire::GpuTimeMode::kDeferred},
       {"scope", wire::GpuTimeMode::kScope},
       {"immediate", wire::GpuTimeMode::kImmediate}},
      &target->gpu_time);
  options->add_choice<bool>({"--deepbind", "ACTION", kRareGroup, "libraries that bypass the hooks: name, or hook"},
                            {{"name", false}, {"hook", true}}, &target->hooks_deep_bind);
  options->add_choice<UnwinderChoice>({"--unwinder", "NAME", recording, "who walks stacks: auto, libunwind or fp"},
                                      {{"auto", UnwinderChoice::kHeapprof},
                                       {"heapprof", UnwinderChoice::kHeapprof},
                                       {"libunwind", UnwinderChoice::kLibunwind},
                                       {"fp", UnwinderChoice::kFramePointers}},
                                      &target->unwinder);
  options->add_flag({"--verify-stacks", "", testing, "compare every stack with libunwind's; slow"},
                    &target->verify_stacks);
  options->add_choice<ClockChoice>(
      {"--clock", "NAME", testing, "order events by auto, tsc or sequence"},
      {{"auto", ClockChoice::kAuto}, {"tsc", ClockChoice::kTsc}, {"sequence", ClockChoice::kSequence}}, &target->clock);
  options->add_choice<FenceChoice>({"--fence", "NAME", testing, "auto, expedited, global or producer"},
                                   {{"auto", FenceChoice::kAuto},
                                    {"expedited", FenceChoice::kExpedited},
                                    {"global", FenceChoice::kGlobal},
                                    {"producer", FenceChoice::kProducer}},
                                   &target->fence);
  options->add_choice<ThreadsChoice>(
      {"--collector-threads", "N", testing, "auto, 1 or 2"},
      {{"auto", ThreadsChoice::kAuto}, {"1", ThreadsChoice::kOne}, {"2", ThreadsChoice::kTwo}},
      &target->collector_threads);
}

int run_main(const std::vector<std::string>& arguments) {
  RunOptions target;
  Options options(run_text());
  declare_run_options(&options, &target);
  const Result<Done> parsed = options.parse_prefix(arguments, &target.program);
  if (!parsed) {
    print_problem(parsed.problem(), target.color);
    return run_exit_code(parsed.problem());
  }
  if (const auto help = options.help()) return print_output(*help);
  if (const Result<Done> checked = check_name_pattern(target.output); !checked) {
    print_problem(checked.problem(), target.color);
    return run_exit_code(checked.problem());
  }
  if (const Result<DeviceLimits> limits = parse_limits(target.limits); !limits) {
    print_problem(limits.problem(), target.color);
    return run_exit_code(limits.problem());
  }
  if (const Result<StartRule> start = parse_start(target.start_text); start) {
    target.start = *start;
  } else {
    print_problem(start.problem(), target.color);
    return run_exit_code(start.problem());
  }
  if (const std::optional<Problem> excluded = find_excluded(target)) {
    print_problem(*excluded, target.color);
    return run_exit_code(*excluded);
  }
  if (target.torch_operators && target.unwinder == UnwinderChoice::kFramePointers) {
    print_problem(operators_need_stacks(), target.color);
    return run_exit_code(operators_need_stacks());
  }
  if (!target.interval.empty()) {
    const Result<uint64_t> interval_ns = parse_snapshot_interval(target.interval);
    if (!interval_ns) {
      print_problem(interval_ns.problem(), target.color);
      return run_exit_code(interval_ns.problem());
    }
    target.snapshot_interval_ns = *interval_ns;
  }
  if (target.serve.empty() && !target.token_file.empty()) {
    const Problem problem = flag_needs_another("--token-file", "--serve ADDRESS");
    print_problem(problem, target.color);
    return run_exit_code(problem);
  }
  if (target.program.empty()) {
    print_problem(missing_program("run"), target.color);
    return run_exit_code(missing_program("run"));
  }
  if (target.live) {
    const bool is_seen = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
    if (target.child_output.empty() || !is_seen) {
      const std::string& program = target.program[0];
      const Problem problem = target.child_output.empty() ? live_needs_output(program) : live_needs_terminal(program);
      print_problem(problem, target.color);
      return run_exit_code(problem);
    }
  }
  return run_command(target);
}

}  // namespace heapprof::cli
