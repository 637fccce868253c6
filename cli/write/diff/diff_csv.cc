// cli/write/diff/diff_csv.cc: a diff as CSV (RFC 4180). For each device and metric, a row, followed by a row for each
// place that changed in it. Then rows for the resident set, and for the changed numbers of scopes and of named memory.
// Cells have integers without units; the metric's name says the unit. A change from 0 has no percent.
//
// A scope's average per run is no integer. So its row has the counts, and how often the scope was begun in each
// profile; their quotient is the average.
#include "cli/write/diff/formats.h"
#include "cli/write/diff/names_section.h"
#include "cli/write/diff/scopes_section.h"
#include "cli/write/encode/csv.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

namespace heapprof::cli {
namespace {

// ",base,current,change,percent"
std::string numbers(const Change& change) {
  const std::string amount = fmt::format("{}{}", change.current < change.base ? "-" : "", change.amount());
  const double percent =
      change.base == 0 ? 0 : 100.0 * static_cast<double>(change.amount()) / static_cast<double>(change.base);
  return fmt::format(
      ",{},{},{},{}", change.base, change.current, amount,
      change.base == 0 ? std::string() : fmt::format("{:.2f}", change.current < change.base ? -percent : percent));
}

std::string frame_cells(const TwoProfiles& two, const PlaceChange& place) {
  const Side side = place.frame[kCurrent] != kNoFrame ? kCurrent : kBase;
  if (place.frame[side] == kNoFrame) return "[no stack],,,";
  const Profile& profile = *two.profiles[side];
  const Frame& frame = profile.frames[place.frame[side]];
  const std::string module = frame.module < profile.modules.size() ? profile.modules[frame.module].path : "";
  const std::string function = place.is_by_module       ? "[no names]"
                               : frame.function.empty() ? fmt::format("0x{:X}", frame.svma)
                                                        : frame.function;
  return fmt::format("{},{},{},{}", csv_cell(function), csv_cell(frame.file),
                     frame.line > 0 ? std::to_string(frame.line) : "", csv_cell(module));
}

const DeviceChange* find_device(const TwoProfiles& two, const std::string& name) {
  for (const DeviceChange& device : two.diff.devices) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

// ",base,current,change,percent" for a number that may be negative; if it is, it has no percent, which would have no
// meaning.
std::string scope_numbers(const ScopeNumber& number) {
  const int64_t base = number.value[kBase];
  const int64_t current = number.value[kCurrent];
  if (base >= 0 && current >= 0) return numbers({static_cast<uint64_t>(base), static_cast<uint64_t>(current)});
  return fmt::format(",{},{},{}{},", base, current, current < base ? "-" : "", number.amount());
}

std::string scope_rows(const TwoProfiles& two, const DiffView& view) {
  const ScopesDiff& diff = two.diff.scopes;
  const ScopesSection section = find_scopes(two, view, SIZE_MAX);
  std::string text;
  for (size_t i = 0; i < section.shown; ++i) {
    const ChangedScope& changed = section.scopes[i];
    const ScopeChange& scope = diff.scopes[changed.place];
    for (const ScopeNumber* number : changed.numbers) {
      const bool is_call = number->field == ScopeField::kCalls;
      text += fmt::format("{},{},,,,{},{},{},{},{},,\n", is_call ? "" : csv_cell(number->of),
                          scope_field_name(number->field), scope_numbers(*number),
                          csv_cell(scope_path_text(diff, changed.place)), is_call ? csv_cell(number->of) : "",
                          scope.begun[kBase], scope.begun[kCurrent]);
    }
  }
  return text;
}

// The most that was live under a name, and what was live under it at the end.
std::string name_rows(const TwoProfiles& two, const DiffView& view) {
  const NamesSection section = find_name_changes(two, view, SIZE_MAX);
  std::string text;
  for (size_t i = 0; i < section.shown; ++i) {
    const NameChange& change = section.changes[i];
    text += fmt::format("{},{},,,,{},,,,,{},{}\n", csv_cell(change.device),
                        change.is_maximum ? "named_max_bytes" : "named_leaked_bytes", numbers(change.bytes),
                        csv_cell(change.category), csv_cell(change.name));
  }
  return text;
}

std::string resident_lines(const TwoProfiles& two, const std::string& device) {
  std::string text;
  for (const ResidentRow& row : resident_rows(two, device)) {
    const auto cell = [](std::optional<uint64_t> bytes) { return bytes ? std::to_string(*bytes) : std::string(); };
    const std::optional<Change> change = row.change();
    text += fmt::format(
        "{},{},,,,{},,,,,,\n", csv_cell(device), row.field,
        change ? numbers(*change) : fmt::format(",{},{},,", cell(row.bytes[kBase]), cell(row.bytes[kCurrent])));
  }
  return text;
}

}  // namespace

std::string render_diff_csv(const TwoProfiles& two, const DiffView& view, const Terminal&) {
  std::string text =
      "device,metric,function,file,line,module,base,current,change,percent,scope,call,base_begun_count,"
      "current_begun_count,category,name\n";
  constexpr std::string_view kNoScope = ",,,,,,";
  for (const MetricRow& row : metric_rows(two, view)) {
    if (view.sort && row.metric != *view.sort) continue;
    const std::string start = fmt::format("{},{}", csv_cell(row.device), metric_field(row.metric));
    text += fmt::format("{},,,,{}{}\n", start, numbers(row.change), kNoScope);
    const DeviceChange& device = *find_device(two, row.device);
    std::vector<uint32_t> order = rank_all_changes(device, row.metric);
    if (view.top && order.size() > *view.top) order.resize(*view.top);
    for (const uint32_t i : order) {
      const PlaceChange& place = device.places[i];
      text += fmt::format("{},{}{}{}\n", start, frame_cells(two, place), numbers(place.change(row.metric)), kNoScope);
    }
  }
  if (!view.sort) {
    for (const DeviceChange& device : two.diff.devices) {
      if (view.device.empty() || view.device == device.name) text += resident_lines(two, device.name);
    }
  }
  return text + scope_rows(two, view) + name_rows(two, view);
}

std::string render_sets_csv(const TwoSets& two, const DiffView& view, const Terminal&) {
  std::string text =
      "command,base_file,current_file,base_runs_count,current_runs_count,device,metric,base,current,change,percent\n";
  for (const RunPair& pair : two.pairing.pairs) {
    const RunTotals& base = two.runs[kBase][pair.base[0]];
    const RunTotals& current = two.runs[kCurrent][pair.current[0]];
    for (const MetricRow& row : metric_rows(two, pair, view, !view.sort)) {
      text += fmt::format("{},{},{},{},{},{},{}{}\n", csv_cell(command_text(current.command)), csv_cell(base.file),
                          csv_cell(current.file), pair.base.size(), pair.current.size(), csv_cell(row.device),
                          metric_field(row.metric), numbers(row.change));
    }
  }
  return text;
}

}  // namespace heapprof::cli
