// cli/commands/doctor.cc: asks, and shows.
#include "cli/commands/doctor.h"

#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/collect/clock.h"
#include "cli/target/agent_trial.h"
#include "cli/target/capabilities.h"
#include "cli/write/doctor/doctor_report.h"

#include <unistd.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

using Render = std::string (*)(const std::vector<Check>&, const Terminal&);

Check check_clock() {
  if (detect_clock_mode() == wire::ClockMode::kTsc)
    return {"clock", Finding::kOk, "the time stamp counter is invariant, and the kernel's clock source", ""};
  return {"clock", Finding::kWarning,
          "the kernel does not use the time stamp counter: events of threads are ordered by a shared counter, which is "
          "slower, and their times are coarse",
          "see why: cat /sys/devices/system/clocksource/clocksource0/*_clocksource"};
}

std::vector<Check> run_checks() {
  std::vector<Check> checks = try_agent();
  for (const std::vector<Check>& more : {check_kernel(), {check_clock()}, check_limits(), check_places()})
    checks.insert(checks.end(), more.begin(), more.end());
  return checks;
}

}  // namespace

CommandText doctor_text() {
  return {"doctor",
          "heapprof doctor [OPTIONS]",
          "Say what this machine allows, and the fix for what not.",
          {"heapprof doctor", "heapprof doctor --format json | jq '.checks[] | select(.finding != \"ok\")'"},
          {"exit status: 0, 1 if programs cannot be profiled here, 2 for wrong usage", "manual: man heapprof-doctor"}};
}

int doctor_main(const std::vector<std::string>& arguments) {
  Options options(doctor_text());
  Render render = render_checks_text;
  ColorMode color = ColorMode::kAuto;
  options.add_choice<Render>({"--format", "FORM", "output", "text (default) or json"},
                             {{"text", render_checks_text}, {"json", render_checks_json}}, &render);
  options.add_color(&color);
  const Result<Done> parsed = options.parse(arguments);
  if (!parsed) {
    print_problem(parsed.problem(), color);
    return parsed.problem().exit_code;
  }
  if (options.help()) return print_output(*options.help());
  const std::vector<Check> checks = run_checks();
  const int code = print_output(render(checks, inspect_terminal(STDOUT_FILENO, color)));
  const bool is_missing =
      std::any_of(checks.begin(), checks.end(), [](const Check& check) { return check.finding == Finding::kMissing; });
  return code != 0 ? code : is_missing ? 1 : 0;
}

}  // namespace heapprof::cli
