// cli/write/check/check_metrics.cc: OpenMetrics text 1.0: measured values and limits.
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

// A measured value, or a limit, in the unit of its subject.
std::string amount(const Subject& subject, uint64_t value) {
  const bool is_in_hundredths = subject.is_share || (subject.scope && is_average(*subject.scope));
  return is_in_hundredths ? fmt::format("{}.{:02}", value / 100, value % 100) : fmt::format("{}", value);
}

std::string device_label(const Subject& subject) { return is_of_device(subject) ? label(subject.device) : ""; }

// The labels for a line's scope.
std::string scope_labels(const Subject& subject) {
  if (!subject.scope) return "";
  const std::string call = subject.scope->call.empty() ? "" : fmt::format("call=\"{}\",", label(subject.scope->call));
  return fmt::format("scope=\"{}\",{}", label(scope_path_text(subject.scope->path)), call);
}

std::string unit(const Subject& subject) {
  return subject.scope && is_average(*subject.scope) ? "count" : unit_name(subject);
}

std::string scopes(const CheckReport& report) {
  std::string text;
  for (const Verdict& verdict : report.verdicts) {
    for (const Judged& line : verdict.judged) {
      if (!line.subject.scope) continue;
      text += fmt::format("heapprof_scope{{budget=\"{}\",device=\"{}\",metric=\"{}\",{}unit=\"{}\"}} {}\n",
                          label(verdict.name), device_label(line.subject), subject_word(line.subject),
                          scope_labels(line.subject), unit(line.subject), amount(line.subject, line.value));
    }
  }
  if (text.empty()) return text;
  return head("heapprof_scope", "", "What was measured of a scope; in the unit that the label says.") + text;
}

std::string limits(const CheckReport& report) {
  std::string text = head("heapprof_limit", "", "The most that a budget allows; in the unit of what it limits.");
  for (const Verdict& verdict : report.verdicts) {
    for (const Judged& line : verdict.judged) {
      if (!line.most) continue;
      text += fmt::format("heapprof_limit{{budget=\"{}\",device=\"{}\",metric=\"{}\",{}site=\"{}\",unit=\"{}\"}} {}\n",
                          label(verdict.name), device_label(line.subject), subject_word(line.subject),
                          scope_labels(line.subject), label(line.subtree), unit(line.subject),
                          amount(line.subject, *line.most));
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
  sink->write(scopes(report));
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
