// cli/write/check/check_metrics.cc: OpenMetrics text 1.0: what was measured, and what it may be.
#include "cli/base/text.h"
#include "cli/write/check/check_words.h"
#include "cli/write/check/formats.h"

#include <fmt/format.h>

namespace heapprof::cli {
namespace {

std::string label(const std::string& text) {
  std::string safe;
  for (const char c : escape_controls(text)) {
    if (c == '\\' || c == '"') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string head(const std::string& name, const std::string& unit, const char* help) {
  const std::string unit_line = unit.empty() ? "" : fmt::format("# UNIT {} {}\n", name, unit);
  return fmt::format("# TYPE {0} gauge\n{1}# HELP {0} {2}\n", name, unit_line, help);
}

std::string limits(const CheckReport& report) {
  std::string text = head("heapprof_limit", "", "The most that a budget allows; in the unit of what it limits.");
  for (const Verdict& verdict : report.verdicts) {
    for (const Judged& line : verdict.judged) {
      if (!line.most) continue;
      text += fmt::format("heapprof_limit{{budget=\"{}\",device=\"{}\",metric=\"{}\",site=\"{}\",unit=\"{}\"}} {}\n",
                          label(verdict.name), label(line.subject.device), metric_word(line.subject.metric),
                          label(line.subtree), unit_name(line.subject),
                          line.subject.is_share ? fmt::format("{}.{:02}", *line.most / 100, *line.most % 100)
                                                : fmt::format("{}", *line.most));
    }
  }
  return text;
}

}  // namespace

void write_check_metrics(const CheckReport& report, ByteSink* sink) {
  for (const Metric metric : kMetrics) {
    const std::string unit = is_in_bytes(metric) ? "bytes" : "blocks";
    const std::string name = fmt::format("heapprof_{}_{}", metric_word(metric), unit);
    sink->write(head(name, unit, metric_field_of(metric).meaning));
    for (const Verdict& verdict : report.verdicts) {
      for (const DeviceNumbers& device : verdict.devices) {
        sink->write(fmt::format("{}{{budget=\"{}\",device=\"{}\"}} {}\n", name, label(verdict.name),
                                label(device.device), device[metric].median));
      }
    }
  }
  sink->write(limits(report));
  sink->write(head("heapprof_check_ok", "", "1 if the program ended well and kept its limits, else 0."));
  for (const Verdict& verdict : report.verdicts) {
    const bool is_ok = verdict.state.trouble == Trouble::kNone && !verdict.failed();
    sink->write(fmt::format("heapprof_check_ok{{budget=\"{}\"}} {}\n", label(verdict.name), is_ok ? 1 : 0));
  }
  sink->write(
      head("heapprof_processes_not_judged", "", "Processes that the program started and no budget was held against."));
  for (const Verdict& verdict : report.verdicts) {
    sink->write(fmt::format("heapprof_processes_not_judged{{budget=\"{}\"}} {}\n", label(verdict.name),
                            verdict.unjudged.processes + verdict.unjudged.replaced));
  }
  sink->write("# EOF\n");
}

}  // namespace heapprof::cli
