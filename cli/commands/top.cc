// cli/commands/top.cc: parses the flags; cli/top/top_watch.h does the rest.
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/run/profile_path.h"
#include "cli/top/top_watch.h"

#include <charconv>
#include <optional>
#include <string>

namespace heapprof::cli {
namespace {

struct TopFlags {
  std::string pid;
  std::string interval;
  TopOptions options;
};

Result<uint64_t> parse_top_interval(const std::string& text) {
  constexpr DurationRange kRange = {250'000'000, 3'600'000'000'000};
  if (const std::optional<uint64_t> interval_ns = parse_duration(text, kRange)) return *interval_ns;
  return bad_top_interval(text);
}

Result<int> top(TopFlags flags) {
  if (flags.pid.empty()) return missing_pid("top");
  const char* const end = flags.pid.data() + flags.pid.size();
  const auto [rest, error] = std::from_chars(flags.pid.data(), end, flags.options.pid);
  if (error != std::errc{} || rest != end || flags.options.pid <= 0)
    return bad_value("PID", flags.pid, "the number of a process");
  if (!flags.interval.empty()) {
    const Result<uint64_t> interval_ns = parse_top_interval(flags.interval);
    if (!interval_ns) return interval_ns.problem();
    flags.options.interval_ns = *interval_ns;
  }
  if (flags.options.format == TopFormat::kJson && !flags.options.is_once)
    return flag_needs_another("--format json", "--once");
  flags.options.snapshot_path = default_snapshot_path;
  return watch_top(flags.options);
}

}  // namespace

CommandText top_text() {
  return {"top",
          "heapprof top [OPTIONS] PID",
          "Watch a program that runs: what is live, and what grows.",
          {"heapprof top 4711                        in the terminal, until q or its end",
           "heapprof top --once --format json 4711   one sample, for scripts"},
          {"exit status: 0; 1 if it cannot be watched, 2 for wrong usage, 128+N if signal N", "ended it",
           "manual: man heapprof-top"}};
}

int top_main(const std::vector<std::string>& arguments) {
  TopFlags target;
  Options options(top_text());
  options.add_flag({"--once", "", "output", "one sample, with rates over an interval"}, &target.options.is_once);
  options.add_choice<TopFormat>({"--format", "FORMAT", "output", "with --once: {}"},
                                {{"text", TopFormat::kText}, {"json", TopFormat::kJson}}, &target.options.format);
  options.add_text({"--interval", "TIME", "output", "from one sample to the next; default 1s"}, &target.interval);
  options.add_choice<TopSort>(
      {"--sort", "WHAT", "output", "places by {}"},
      {{"live", TopSort::kLive}, {"growth", TopSort::kGrowth}, {"allocations", TopSort::kAllocations}},
      &target.options.sort);
  options.add_color(&target.options.color);
  options.add_positional(&target.pid);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? top(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.options.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
