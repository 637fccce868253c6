// cli/write/report/processes_text.cc: see report_sections.h. The call that shows a process's profile is on a separate
// line, so that long file names do not push the commands out of sight.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {

namespace {

constexpr size_t kShownProcesses = 10;
constexpr size_t kNarrowProcesses = 60;  // columns below which calls start at the left
constexpr size_t kShownWithTop = 100;    // as many as a profile keeps

uint64_t memory_peak(const Profile& profile) {
  uint64_t sum = 0;
  for (const Device& device : profile.devices) {
    if (device.name == "host" || device.name == "mapped") sum = add_saturating(sum, device.totals.peak_bytes);
  }
  return sum;
}

std::string bytes(uint64_t value, const ReportView& view) {
  return view.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
}

// How to view its profile, or why that is impossible.
std::string call_text(const Profile& profile, const ReportView& view, size_t index, size_t columns) {
  const std::string& file = profile.run.processes[index].file;
  if (file.empty()) return "it has no file";
  if (index < view.others.size() && view.others[index].empty())
    return "its profile is not here: " + shorten_path(command_text({file}), columns > 40 ? columns - 40 : 12);
  return "heapprof report " + command_text({index < view.others.size() ? view.others[index] : file});
}

}  // namespace

std::string larger_process_line(const Profile& profile, const ReportView& view, size_t columns) {
  if (profile.run.processes.empty()) return "";
  const OtherProcess& largest = profile.run.processes.front();
  if (largest.memory_peak_bytes <= memory_peak(profile)) return "";
  const std::string start = fmt::format("larger: {}, peak ", largest.pid);
  const std::string what = start + bytes(largest.memory_peak_bytes, view) + "  ";
  const size_t used = display_width(what);
  const std::string line =
      what + short_command(largest.command, largest.title, columns > used + 10 ? columns - used : 10);
  return line + "\n  " + call_text(profile, view, 0, columns) + "\n";
}

std::string processes_text(const Profile& profile, const ReportView& view, size_t columns) {
  const std::vector<OtherProcess>& processes = profile.run.processes;
  const size_t shown = std::min(processes.size(), view.top ? std::min(*view.top, kShownWithTop) : kShownProcesses);
  size_t peak_width = 0;
  size_t resident_width = 0;
  size_t pid_width = 0;
  const auto resident = [&](const OtherProcess& process) {
    return process.resident_max_bytes == 0 ? "" : bytes(process.resident_max_bytes, view) + " resident";
  };
  for (size_t i = 0; i < shown; ++i) {
    peak_width = std::max(peak_width, display_width(bytes(processes[i].memory_peak_bytes, view)));
    resident_width = std::max(resident_width, display_width(resident(processes[i])));
    pid_width = std::max(pid_width, fmt::format("{}", processes[i].pid).size());
  }
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    const OtherProcess& process = processes[i];
    std::string line = pad_left(bytes(process.memory_peak_bytes, view), peak_width) + "  ";
    if (resident_width != 0 && columns >= peak_width + resident_width + pid_width + 26)
      line += pad_left(resident(process), resident_width) + "  ";
    line += pad_left(fmt::format("{}", process.pid), pid_width) + "  ";
    const size_t used = display_width(line);
    text += line + short_command(process.command, process.title, columns > used + 10 ? columns - used : 10) + "\n";
    text +=
        std::string(columns < kNarrowProcesses ? 2 : peak_width + 2, ' ') + call_text(profile, view, i, columns) + "\n";
  }
  const uint64_t rest = processes.size() - shown + profile.run.other_processes_count;
  if (rest != 0) text += fmt::format("and {} smaller\n", format_count(rest));
  return text;
}

}  // namespace heapprof::cli
