// cli/run/summary/summary.cc: lays out about twenty lines; the report has more.
#include "cli/run/summary/summary.h"

#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/places.h"
#include "cli/model/analysis/warnings.h"
#include "cli/run/names_advice.h"
#include "cli/run/process_tree_text.h"
#include "cli/run/summary/summary_files.h"
#include "cli/run/summary/summary_places.h"
#include "cli/write/report/device_choice.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/place_text.h"
#include "cli/write/text/run_text.h"
#include "cli/write/text/sampling_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr size_t kShownPlaces = 3;
constexpr size_t kSparkColumns = 20;
constexpr size_t kScreenLines = 22;  // of 24: an empty line comes before, and the shell's prompt after

struct Painter {
  bool colored = false;
  std::string bold(const std::string& text) const { return colored ? "\x1b[1m" + text + "\x1b[0m" : text; }
};

size_t count_lines(const std::string& text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')); }

std::string header_line(const SummaryInput& input, const Painter& paint, size_t columns) {
  constexpr size_t kLeastRoom = 16;  // columns for the command
  const RunInfo& run = input.profile.run;
  size_t children_count = 0;
  if (input.tree != nullptr) {
    const std::vector<TreeEntry>& entries = input.tree->entries();
    children_count = static_cast<size_t>(std::count_if(entries.begin() + 1, entries.end(),
                                                       [](const TreeEntry& e) { return e.fate == Fate::kProfiled; }));
  }
  const std::string children = children_count == 0   ? ""
                               : children_count == 1 ? " + 1 child"
                                                     : fmt::format(" + {} children", children_count);
  const std::string name = "heapprof: ";
  std::string facts;
  for (const char* gap : {"    ", "  "}) {
    facts = fmt::format("{}{}{}{}{}pid {}{}", gap, end_text(run.end), gap, length_text(input.profile, run.duration_ns),
                        gap, run.pid, children);
    const size_t fixed = name.size() + display_width(facts);
    const std::string whole = command_text(run.command);
    if (fixed + std::min(display_width(whole), kLeastRoom) > columns) continue;
    return name + paint.bold(short_command(run.command, columns - fixed)) + facts + "\n";
  }
  return name + paint.bold(short_command(run.command, columns - name.size())) + "\n" + fitted(facts + "\n", columns);
}

struct TableStyle {
  size_t gap = 3;
  const char* temporary = "temporary";
};

std::string device_table(const Profile& profile, const std::vector<const Device*>& devices, const TableStyle& style) {
  using Row = std::array<std::string, 7>;
  const bool has_temporary = has_metric(profile, Metric::kTemporary);
  std::vector<Row> rows = {{"device", "peak", "at", std::string(live_word(profile)), "allocations", "total",
                            has_temporary ? style.temporary : ""}};
  for (const Device* device : devices) {
    const DeviceTotals& totals = device->totals;
    rows.push_back({escape_controls(device->name), format_bytes(totals.peak_bytes),
                    moment_text(profile, totals.peak_ns), format_bytes(sum_of_sites(*device).leaked_bytes),
                    format_count(totals.total_blocks), format_bytes(totals.total_bytes),
                    has_temporary ? format_percent_rounded({totals.temporary_blocks, totals.total_blocks}) : ""});
  }
  std::string table;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      size_t width = 0;
      for (const Row& other : rows) width = std::max(width, display_width(other[i]));
      line += i == 0 ? pad_right(row[i], width) : std::string(style.gap, ' ') + pad_left(row[i], width);
    }
    table += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return table;
}

// A table of the devices if it fits the width, else each device's facts one after the other.
std::string device_part(const Profile& profile, const DeviceChoice& choice, size_t columns) {
  std::string text;
  for (const TableStyle& style : {TableStyle{3, "temporary"}, TableStyle{2, "temporary"}, TableStyle{2, "temp"}}) {
    text = device_table(profile, choice.shown, style);
    size_t width = 0;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      width = std::max(width, display_width(text.substr(at, text.find('\n', at) - at)));
    if (width <= columns) return text;
  }
  return device_facts(profile, choice.shown, false, columns);
}

// What drivers and allocators report on the devices, besides the table's numbers. If a driver reports nothing, the
// report says why.
std::string said_by_drivers(const Profile& profile, const std::vector<const Device*>& devices, size_t columns) {
  std::string text;
  for (const Device* shown : devices) {
    const Device& device = *shown;
    std::vector<std::vector<std::string>> lines = held_lines(device.held, false);
    for (std::vector<std::string>& line : segments_lines(device, profile, false)) lines.push_back(std::move(line));
    if (device.use.samples != 0) lines.push_back(use_line(device.use, device.unseen, false));
    for (const std::vector<std::string>& pieces : lines) {
      std::string line = escape_controls(device.name) + ":";
      for (const std::string& piece : pieces) {
        if (display_width(line) + 1 + display_width(piece) > columns) {
          text += line + "\n";
          line = " ";
        }
        line += " " + piece;
      }
      text += line + "\n";
    }
  }
  return text;
}

std::string curves(const Profile& profile, const std::vector<const Device*>& devices, size_t columns) {
  constexpr size_t kWords = 20;  // columns for the words after the curve
  std::string text;
  size_t name_width = 6;
  for (const Device* device : devices) name_width = std::max(name_width, display_width(device->name));
  const size_t room = columns > name_width + kWords + 8 ? columns - name_width - kWords : 8;
  for (const Device* device : devices) {
    const std::string line =
        sparkline(device->timeline, profile.run.duration_ns, device->totals.peak_bytes, std::min(room, kSparkColumns));
    if (line.empty()) continue;
    text += fmt::format("{}  {}  0 … {}", pad_right(escape_controls(device->name), name_width), line,
                        format_bytes(device->totals.peak_bytes));
    // On a machine without a usable clock this is so in every run. So the summary has only a word, and the report has
    // the warning.
    const char* const coarse = profile.run.coverage.clock == "sequence" ? "  (coarse: HP042)" : "";
    const std::string length = fmt::format("    0 … {}{}", length_text(profile, profile.run.duration_ns), coarse);
    const size_t used = display_width(text.substr(text.rfind('\n') + 1));
    if (device == devices.back() && used + display_width(length) <= columns) text += length;
    text += "\n";
  }
  return text;
}

// For each device that refused memory (it was full, or at its limit): the code that asked for the memory, and the code
// that had it.
std::string refusals(const Profile& profile, const PlaceTree& tree, size_t columns) {
  const FrameNames names(profile, tree);
  std::string text;
  for (const Device& device : profile.devices)
    text += refusal_text(profile, tree, names, device, {1, kShownPlaces, columns});
  return text;
}

// Failed device allocations of the processes that the tables do not show.
std::string refusals_of_others(const ProcessTree* tree, const std::string& shown, size_t columns) {
  std::string text;
  size_t others = 0;
  for (size_t i = 0; tree != nullptr && i < tree->entries().size(); ++i) {
    const TreeEntry& entry = tree->entries()[i];
    for (const RefusedDevice& refused : entry.refused) {
      if (refused.path == shown) continue;  // shown above
      if (++others > kShownPlaces) continue;
      const std::string times = refused.count == 1 ? "" : fmt::format(", {} times", format_count(refused.count));
      const std::string what = fmt::format(
          "{} {} in process {}{}", escape_controls(refused.device),
          refused.by_limit_count == refused.count ? "came to its limit" : "ran out of memory", entry.pid, times);
      const std::string who = short_command(entry.command, entry.title, columns > 20 ? columns - 12 : 8);
      text += what + (refused.path.empty() ? "" : ": " + command_text({refused.path})) + "\n  " + who + "\n";
    }
  }
  if (others > kShownPlaces) text += fmt::format("and {} more\n", others - kShownPlaces);
  return text;
}

// Facts about devices that the table of peaks cannot show.
std::string unseen(const Profile& profile, const PlaceTree& tree, size_t columns) {
  std::vector<const Device*> devices;
  for (const Device& device : profile.devices) {
    if (device.unseen.has_any()) devices.push_back(&device);
  }
  if (devices.empty()) return "";
  return unseen_text(profile, tree, FrameNames(profile, tree), devices, false, columns);
}

// The classified leaks, if --leak-check was given.
std::string leaks(const Profile& profile, const PlaceTree& tree, size_t columns) {
  if (!profile.run.leak_check.is_asked) return "";
  return leak_lines(profile, tree, FrameNames(profile, tree), {columns, false, 1, 6});
}

std::string process_section(const SummaryInput& input, const Painter& paint, size_t columns, size_t most_rows) {
  const std::string rows = input.tree != nullptr ? tree_text(*input.tree, columns, most_rows) : "";
  return rows.empty() ? "" : paint.bold(tree_title(*input.tree, columns)) + "\n" + rows;
}

// The sentence for a program that was killed or that heapprof left; empty for others.
std::string end_sentence(const Profile& profile, bool is_shown) {
  const RunInfo& run = profile.run;
  const std::string at = length_text(profile, run.duration_ns);
  const std::string whole =
      fmt::format("{} profile is {}", is_shown ? "the" : "its", run.complete ? "complete up to there" : "incomplete");
  const std::string who =
      is_shown || run.command.empty() ? "" : shorten_middle(escape_controls(base_name(run.command[0])), 20) + " was ";
  switch (run.end.kind) {
    case EndKind::kSignaled:
      return fmt::format("{}killed by {} at {}; {}\n", who, signal_name(run.end.status), at, whole);
    case EndKind::kDetached: return fmt::format("heapprof stopped watching at {}, while the program ran\n", at);
    case EndKind::kExited:
    case EndKind::kExec:
    case EndKind::kRunning:
    case EndKind::kUnknown: return "";
  }
  return "";
}

constexpr std::string_view kNoNames = "HP068";
constexpr std::string_view kEstimates = "HP295";
constexpr std::string_view kCoarseTimes = "HP042";
constexpr std::string_view kNeverProfiled = "HP187";  // the summary of the run names them

// If the summary shows another process, missing names in the started program's profile do not matter.
// tree: of the shown profile, if there is one.
std::vector<Problem> shown_warnings(const SummaryInput& input, const PlaceTree* tree) {
  std::vector<Problem> warnings;
  for (const Profile* profile : {&input.profile, input.shown}) {
    if (profile == nullptr) continue;
    const std::string& file = profile == input.shown ? input.headline->other->path : input.file;
    const bool is_shown = profile == input.shown || input.shown == nullptr;
    for (const Problem& warning : find_warnings(*profile, quick_names_adviser(file), is_shown ? tree : nullptr)) {
      if (!is_shown && warning.id == kNoNames) continue;
      if (warning.id == kEstimates || warning.id == kCoarseTimes || warning.id == kNeverProfiled)
        continue;  // the summary has these elsewhere
      const auto is_same = [&](const Problem& other) { return other.id == warning.id && other.what == warning.what; };
      if (std::none_of(warnings.begin(), warnings.end(), is_same)) warnings.push_back(warning);
    }
  }
  return warnings;
}

std::string warning_text(const std::vector<Problem>& warnings, const Terminal& terminal) {
  std::string text;
  for (const Problem& warning : warnings) text += format_problem(warning, terminal);
  return text;
}

// The same in at most `lines` lines, if possible: advice on missing names is left out, because the report repeats it.
std::string warnings_within(size_t lines, std::vector<Problem> warnings, const Terminal& terminal) {
  for (std::string Problem::*part : {&Problem::instead, &Problem::fix}) {
    if (count_lines(warning_text(warnings, terminal)) <= lines) break;
    for (Problem& warning : warnings) {
      if (warning.id == kNoNames) (warning.*part).clear();
    }
  }
  return warning_text(warnings, terminal);
}

// A sentence made from "jemalloc: 33 functions".
std::string inner_line(const Profile& profile, const std::string& inner, size_t columns) {
  const size_t colon = std::min(inner.find(": "), inner.size());
  return fitted(fmt::format("{} inside {}{} hooked in place\n", inner.substr(0, colon),
                            base_name(profile.run.executable), inner.substr(colon)),
                columns);
}

}  // namespace

SummaryParts::SummaryParts(const Profile& profile, PlaceTree place_tree)
    : tree(std::move(place_tree)),
      devices(choose_devices(profile)),
      conclusion(profile, tree),
      places(profile, tree, devices.shown) {}

std::string render_summary(const SummaryInput& input, const Terminal& terminal) {
  const Profile& profile = input.shown != nullptr ? *input.shown : input.profile;
  std::optional<SummaryParts> made;
  const SummaryParts& parts_of_profile = input.parts != nullptr ? *input.parts : made.emplace(profile);
  const PlaceTree& tree = parts_of_profile.tree;
  const Painter paint{terminal.colored};
  const size_t columns = static_cast<size_t>(terminal.columns);
  const bool has_refusals = std::any_of(profile.devices.begin(), profile.devices.end(),
                                        [](const Device& device) { return !device.refusals.empty(); });
  const DeviceChoice& devices = parts_of_profile.devices;
  std::string text = header_line(input, paint, columns);
  if (input.shown != nullptr) text += headline_text(*input.headline, *input.saved, columns);
  text += "\n";
  const std::string refused =
      (has_refusals ? refusals(profile, tree, columns) : "") +
      refusals_of_others(input.tree, input.shown != nullptr ? input.headline->other->path : input.file, columns);
  if (!refused.empty()) text += refused + "\n";
  text += device_part(profile, devices, columns) + fitted(attached_line(profile), columns) +
          sampling_lines(profile, columns) + small_devices_line(profile, devices, false, "heapprof report", columns) +
          inside_text(profile, devices.shown, false, columns) + unseen(profile, tree, columns);
  if (!profile.devices.empty() && profile.merged.empty()) text += resident_lines(profile.devices[0].totals, columns);
  for (const std::string& inner : profile.run.coverage.inner_allocators) text += inner_line(profile, inner, columns);
  if (!profile.devices.empty()) text += package_lines(profile, tree, profile.devices[0], columns);
  text += leaks(profile, tree, columns);
  for (const std::string& part :
       {said_by_drivers(profile, devices.shown, columns), curves(profile, devices.shown, columns)}) {
    if (!part.empty()) text += "\n" + part;
  }
  const std::vector<Problem> warnings = shown_warnings(input, &tree);
  std::string warned = warning_text(warnings, terminal);
  std::string rows = process_section(input, paint, columns, kMostRows);
  const std::string end = fitted(end_sentence(input.profile, input.shown == nullptr), columns);
  const std::string last =
      parts_of_profile.conclusion.text_with_call(pasted_file(shown_file(input), terminal.utf8), columns) +
      saved_lines(input, terminal.utf8, columns);
  const std::array<const std::string*, 4> parts = {&rows, &end, &warned, &last};
  size_t used = count_lines(text) + 1;
  for (const std::string* part : parts) used += part->empty() ? 0 : count_lines(*part) + 1;
  const auto places_within = [&](size_t lines) {
    return parts_of_profile.places.text({lines, columns, terminal.colored});
  };
  // Places matter more than processes: if they do not all fit, fewer processes are listed.
  const size_t wanted = rows.empty() ? 0 : used + count_lines(places_within(kScreenLines));
  if (wanted > kScreenLines) {
    const size_t most = kMostRows - std::min(kMostRows - kFewestRows, wanted - kScreenLines);
    const std::string fewer = process_section(input, paint, columns, most);
    used -= count_lines(rows) - count_lines(fewer);
    rows = fewer;
  }
  const std::string places = places_within(kScreenLines - std::min(kScreenLines, used));
  text = fitted(text + (places.empty() ? "" : "\n" + places), columns);
  // If the text is still too long, the warnings are shortened, and the empty line after them is left out.
  used += count_lines(places);
  const bool is_tight = used > kScreenLines && !warned.empty();
  if (is_tight) {
    const size_t room = count_lines(warned) + kScreenLines + 1;
    warned = warnings_within(room > used ? room - used : 0, warnings, terminal);
  }
  for (const std::string* part : parts) {
    if (!part->empty()) text += (is_tight && part == &last ? "" : "\n") + *part;
  }
  return terminal.utf8 ? text : to_ascii(text);
}

std::string summary_text(const SummaryInput& input, const RunOptions& options) {
  if (options.quiet) return "";
  const Terminal terminal = inspect_terminal(STDERR_FILENO, options.color);
  if (options.no_summary) return warning_text(shown_warnings(input, nullptr), terminal);
  return (terminal.is_tty ? "\n" : "") + render_summary(input, terminal);
}

}  // namespace heapprof::cli
