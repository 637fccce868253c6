// cli/serve/metrics_text.cc: writes one metric family after the other, as both formats require: first its head, then
// the samples of all processes.
//
// Rates are not written: the scraper computes them from counters, over any interval (rate() of Prometheus).
#include "cli/serve/metrics_text.h"

#include "cli/base/text.h"

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace heapprof::cli {

namespace {

using LabelList = std::vector<std::pair<std::string, std::string>>;

enum class Kind { kGauge, kCounter, kInfo };

struct Family {
  std::string_view name;  // without _total
  Kind kind;
  std::string_view unit;  // with which the name ends; empty: no unit
  std::string_view help;
};

// Valid UTF-8, with the format's three special characters escaped.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : escape_controls(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string seconds_text(uint64_t ns) { return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000); }

class MetricsWriter {
 public:
  explicit MetricsWriter(bool is_open_metrics) : is_open_metrics_(is_open_metrics) {}

  void begin(const Family& family) {
    family_ = family;
    has_head_ = false;
  }

  void add(const LabelList& labels, const LabelList& more, std::string_view value) {
    if (!has_head_) write_head();
    text_ += name();
    std::string_view separator = "{";
    for (const LabelList* list : {&labels, &more}) {
      for (const auto& [key, label] : *list) {
        text_ += fmt::format("{}{}=\"{}\"", separator, key, escaped(label));
        separator = ",";
      }
    }
    text_ += separator == "{" ? " " : "} ";
    text_ += value;
    text_ += '\n';
  }

  std::string take() {
    if (is_open_metrics_) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  // The name of samples.
  std::string name() const {
    const std::string_view end = family_.kind == Kind::kCounter ? "_total" : family_.kind == Kind::kInfo ? "_info" : "";
    return fmt::format("{}{}", family_.name, end);
  }

  void write_head() {
    has_head_ = true;
    // In the older format, a family has the same name as its samples. It has no units, and no type "info".
    const std::string head = is_open_metrics_ ? std::string(family_.name) : name();
    const std::string_view kind = family_.kind == Kind::kCounter                    ? "counter"
                                  : family_.kind == Kind::kInfo && is_open_metrics_ ? "info"
                                                                                    : "gauge";
    text_ += fmt::format("# TYPE {} {}\n", head, kind);
    if (is_open_metrics_ && !family_.unit.empty()) text_ += fmt::format("# UNIT {} {}\n", head, family_.unit);
    text_ += fmt::format("# HELP {} {}\n", head, family_.help);
  }

  bool is_open_metrics_;
  Family family_{};
  bool has_head_ = false;
  std::string text_;
};

struct DeviceFamily {
  Family family;
  uint64_t (*value)(const TopDevice&);
  bool is_left_out_at_zero = false;
};

constexpr DeviceFamily kDeviceFamilies[] = {
    {{"heapprof_live_bytes", Kind::kGauge, "bytes", "Bytes that are allocated and not freed."},
     [](const TopDevice& d) { return d.live_bytes; }},
    {{"heapprof_live_blocks", Kind::kGauge, "", "Blocks that are allocated and not freed."},
     [](const TopDevice& d) { return d.live_blocks; }},
    {{"heapprof_peak_bytes", Kind::kGauge, "bytes", "The most bytes that were live at one moment, exactly."},
     [](const TopDevice& d) { return d.peak_bytes; }},
    {{"heapprof_allocations", Kind::kCounter, "", "Blocks that were allocated."},
     [](const TopDevice& d) { return d.total_blocks; }},
    {{"heapprof_allocated_bytes", Kind::kCounter, "bytes", "Bytes that were allocated."},
     [](const TopDevice& d) { return d.total_bytes; }},
    {{"heapprof_temporary_allocations", Kind::kCounter, "",
      "Blocks that were freed before the next allocation of their thread."},
     [](const TopDevice& d) { return d.temporary_blocks; }},
    {{"heapprof_refused_allocations", Kind::kCounter, "", "Allocations for which the device had no memory."},
     [](const TopDevice& d) { return d.refused_count; }},
    {{"heapprof_limit_bytes", Kind::kGauge, "bytes", "The limit of heapprof run --limit."},
     [](const TopDevice& d) { return d.limit_bytes; },
     true},
};

struct ScopeFamily {
  Family family;
  uint64_t (*value)(const TopScope&);
  bool is_time = false;
};

constexpr ScopeFamily kScopeFamilies[] = {
    {{"heapprof_scope_entered", Kind::kCounter, "", "How often the scope was entered."},
     [](const TopScope& s) { return s.begun_count; }},
    {{"heapprof_scope_open", Kind::kGauge, "", "How many of it are open."},
     [](const TopScope& s) { return s.open_count; }},
    {{"heapprof_scope_seconds", Kind::kCounter, "seconds", "Time inside the scope, of those that have ended."},
     [](const TopScope& s) { return s.time_ns; },
     true},
    {{"heapprof_scope_allocated_bytes", Kind::kCounter, "bytes", "Bytes of the host allocated inside the scope."},
     [](const TopScope& s) { return s.allocated_bytes; }},
    {{"heapprof_scope_freed_bytes", Kind::kCounter, "bytes", "Bytes of the host freed inside the scope."},
     [](const TopScope& s) { return s.freed_bytes; }},
    {{"heapprof_scope_peak_bytes", Kind::kGauge, "bytes",
      "The most bytes of the host by which one of the scope was above its begin."},
     [](const TopScope& s) { return s.peak_inside_bytes; }},
};

struct ProcessFamily {
  Family family;
  std::string (*value)(const ProcessMetrics&);  // empty: no value
};

std::string number_or_none(uint64_t value) { return value == 0 ? "" : fmt::format("{}", value); }

constexpr ProcessFamily kProcessFamilies[] = {
    {{"heapprof_process", Kind::kInfo, "", "A process that is profiled."},
     [](const ProcessMetrics&) { return std::string("1"); }},
    {{"heapprof_collector_up", Kind::kGauge, "", "1 where the heapprof that profiles the process answered, else 0."},
     [](const ProcessMetrics& p) { return std::string(p.sample ? "1" : "0"); }},
    {{"heapprof_run_seconds", Kind::kGauge, "seconds", "How long the process has been profiled."},
     [](const ProcessMetrics& p) { return p.sample ? seconds_text(p.sample->age_ns) : ""; }},
    {{"heapprof_resident_bytes", Kind::kGauge, "bytes", "Memory of the process that is in RAM, as the kernel counts."},
     [](const ProcessMetrics& p) { return number_or_none(p.resident_bytes); }},
    {{"heapprof_resident_peak_bytes", Kind::kGauge, "bytes", "The most that was in RAM, as the kernel counts."},
     [](const ProcessMetrics& p) { return number_or_none(p.resident_peak_bytes); }},
    {{"heapprof_events_lost", Kind::kCounter, "", "Events that were lost: above 0, the other numbers are too small."},
     [](const ProcessMetrics& p) { return p.sample ? fmt::format("{}", p.sample->lost_count) : ""; }},
    {{"heapprof_scopes", Kind::kGauge, "",
      "Scopes that the process has; of those that allocated most there are series."},
     [](const ProcessMetrics& p) { return p.sample ? fmt::format("{}", p.sample->scope_count) : ""; }},
};

}  // namespace

std::string metrics_text(const std::vector<ProcessMetrics>& processes, const MetricsView& view) {
  MetricsWriter out(view.is_open_metrics);
  out.begin({"heapprof_processes_left_out", Kind::kGauge, "", "Processes beyond as many as are served."});
  out.add({}, {}, fmt::format("{}", view.left_out_count));
  for (const ProcessFamily& family : kProcessFamilies) {
    out.begin(family.family);
    for (const ProcessMetrics& process : processes) {
      if (const std::string value = family.value(process); !value.empty()) out.add(process.labels, {}, value);
    }
  }
  for (const DeviceFamily& family : kDeviceFamilies) {
    out.begin(family.family);
    for (const ProcessMetrics& process : processes) {
      if (!process.sample) continue;
      for (const TopDevice& device : process.sample->devices) {
        const uint64_t value = family.value(device);
        if (value != 0 || !family.is_left_out_at_zero)
          out.add(process.labels, {{"device", device.name}}, fmt::format("{}", value));
      }
    }
  }
  for (const ScopeFamily& family : kScopeFamilies) {
    out.begin(family.family);
    for (const ProcessMetrics& process : processes) {
      if (!process.sample) continue;
      for (const TopScope& scope : process.sample->scopes) {
        const uint64_t value = family.value(scope);
        const std::string text = family.is_time ? seconds_text(value) : fmt::format("{}", value);
        // Scope paths are cut, and may be equal then. The id tells them apart, because every reader refuses a series
        // that comes twice.
        out.add(process.labels, {{"scope", scope.path}, {"scope_id", fmt::format("{}", scope.id)}}, text);
      }
    }
  }
  return out.take();
}

}  // namespace heapprof::cli
