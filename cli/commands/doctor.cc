// cli/commands/doctor.cc: tries what this machine allows (cli/target/capabilities.h), and shows the results.
#include "cli/arch/arch.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/collect/clock.h"
#include "cli/commands/commands.h"
#include "cli/target/capabilities.h"
#include "cli/write/doctor/formats.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

Capability try_clock() {
  if (detect_clock_mode() == wire::ClockMode::kTsc)
    return {"clock", Availability::kOk, fmt::format("the {} is invariant, and the kernel trusts it", kCounterName), ""};
  return {"clock", Availability::kWarning,
          fmt::format("the kernel does not trust the {}: events of threads are ordered by a shared counter, which is "
                      "slower, and their times are coarse",
                      kCounterName),
          "see why: dmesg | grep -i clocksource"};
}

std::vector<Capability> find_capabilities() {
  std::vector<Capability> capabilities = try_agent();
  for (const std::vector<Capability>& more : {try_kernel(), {try_clock()}, try_limits(), try_paths()})
    capabilities.insert(capabilities.end(), more.begin(), more.end());
  return capabilities;
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
  DoctorFormat format = doctor_formats()[0];
  ColorMode color = ColorMode::kAuto;
  Choices<DoctorFormat> format_choices;
  for (const DoctorFormat& known : doctor_formats()) format_choices.emplace_back(known.name, known);
  options.add_choice<DoctorFormat>({"--format", "FORMAT", "output", "text (default) or json"}, format_choices, &format);
  options.add_color(&color);
  const Result<Done> parsed = options.parse(arguments);
  if (!parsed) {
    print_problem(parsed.problem(), color);
    return parsed.problem().exit_code;
  }
  if (options.help()) return print_output(*options.help());
  const std::vector<Capability> capabilities = find_capabilities();
  const int code = print_output(format.render(capabilities, inspect_terminal(STDOUT_FILENO, color)));
  const bool is_missing = std::any_of(capabilities.begin(), capabilities.end(), [](const Capability& capability) {
    return capability.availability == Availability::kMissing;
  });
  return code != 0 ? code : is_missing ? 1 : 0;
}

}  // namespace heapprof::cli
