// cli/run/summary.cc: about twenty lines; who wants more reads the report.
#include "cli/run/summary.h"

#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/places.h"
#include "cli/model/analysis/warnings.h"
#include "cli/run/process_tree_text.h"
#include "cli/write/report/device_text.h"
#include "cli/write/report/held_text.h"
#include "cli/write/report/refusal_text.h"
#include "cli/write/report/unseen_text.h"
#include "cli/write/text/place_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

namespace heapprof::cli {
namespace {

constexpr size_t kShownPlaces = 3;
constexpr size_t kShownImages = 5;
constexpr size_t kSparkColumns = 20;

struct Painter {
  bool colored = false;
  std::string bold(const std::string& text) const { return colored ? "\x1b[1m" + text + "\x1b[0m" : text; }
};

std::string header_line(const SummaryInput& input, const Painter& paint, size_t columns) {
  const RunInfo& run = input.profile.run;
  std::string facts =
      fmt::format("    {}    {}    pid {}", end_text(run.end), length_text(input.profile, run.duration_ns), run.pid);
  size_t children_count = 0;
  if (input.tree != nullptr) {
    const std::vector<TreeEntry>& entries = input.tree->entries();
    children_count = static_cast<size_t>(std::count_if(entries.begin() + 1, entries.end(),
                                                       [](const TreeEntry& e) { return e.fate == Fate::kProfiled; }));
  }
  if (children_count == 1) facts += " + 1 child";
  if (children_count > 1) facts += fmt::format(" + {} children", children_count);
  const std::string name = "heapprof: ";
  const size_t fixed = name.size() + display_width(facts);
  const size_t room = columns > fixed + 10 ? columns - fixed : 10;
  return name + paint.bold(short_command(run.command, room)) + facts + "\n";
}

std::string device_table(const Profile& profile) {
  struct Row {
    std::string device, peak, at, leaked, allocations, temporary;
  };
  std::vector<PlaceNumbers> sums;
  bool has_suppressed = false;
  for (const Device& device : profile.devices) {
    sums.push_back(sum_of_sites(device));
    has_suppressed = has_suppressed || sums.back().suppressed_blocks > 0;
  }
  std::vector<Row> rows = {
      {"device", "peak", "at", has_suppressed ? "leaked + suppressed" : "leaked", "allocations", "temporary"}};
  for (const Device& device : profile.devices) {
    const DeviceTotals& totals = device.totals;
    const PlaceNumbers& sum = sums[rows.size() - 1];
    const std::string suppressed = has_suppressed ? " + " + format_bytes(sum.suppressed_bytes) : "";
    rows.push_back({escape_controls(device.name), format_bytes(totals.peak_bytes), moment_text(profile, totals.peak_ns),
                    format_bytes(sum.leaked_bytes) + suppressed, format_count(totals.total_blocks),
                    format_percent_rounded({totals.temporary_blocks, totals.total_blocks})});
  }
  std::string Row::*const columns[] = {&Row::device, &Row::peak,        &Row::at,
                                       &Row::leaked, &Row::allocations, &Row::temporary};
  std::string table;
  for (const Row& row : rows) {
    std::string line;
    for (std::string Row::*const column : columns) {
      size_t width = 8;
      for (const Row& other : rows) width = std::max(width, display_width(other.*column));
      const std::string gap = has_suppressed ? "   " : "    ";
      line += column == &Row::device ? pad_right(row.*column, width) : gap + pad_left(row.*column, width);
    }
    table += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return table;
}

// What drivers say, beside what the table counts. Why a driver does not say it is left to the report.
std::string said_by_drivers(const Profile& profile, size_t columns) {
  std::string text;
  for (const Device& device : profile.devices) {
    std::vector<std::vector<std::string>> lines = held_lines(device.held, false);
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

std::string curves(const Profile& profile) {
  std::string text;
  size_t name_width = 6;
  for (const Device& device : profile.devices) name_width = std::max(name_width, display_width(device.name));
  for (const Device& device : profile.devices) {
    const std::string line =
        sparkline(device.timeline, profile.run.duration_ns, device.totals.peak_bytes, kSparkColumns);
    if (line.empty()) continue;
    text += fmt::format("{}  {}  0 … {}", pad_right(escape_controls(device.name), name_width), line,
                        format_bytes(device.totals.peak_bytes));
    if (&device == &profile.devices.back())
      text += fmt::format("    0 … {}", length_text(profile, profile.run.duration_ns));
    text += "\n";
  }
  return text;
}

struct Section {
  std::string title;
  std::vector<PlaceLine> lines;
};

struct Gathered {
  std::vector<Section> sections;
  std::vector<std::unique_ptr<CallerChain>> chains;  // the lines point at them
};

void gather(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device, Metric metric,
            Gathered* all) {
  const std::vector<Place> places = find_places(profile, tree, device);
  const PlaceNumbers sum = sum_of_sites(device);
  Section section;
  section.title = metric == Metric::kPeak      ? fmt::format("at the {} peak", escape_controls(device.name))
                  : profile.devices.size() > 1 ? fmt::format("leaked on {}", escape_controls(device.name))
                                               : "leaked";
  const std::vector<uint32_t> order = rank_places(places, metric);
  for (size_t i = 0; i < std::min(order.size(), kShownPlaces); ++i) {
    const Place& place = places[order[i]];
    all->chains.push_back(std::make_unique<CallerChain>(find_callers(profile, tree, device, place, metric)));
    PlaceLine line;
    line.numbers = {format_bytes(place.numbers.metric(metric)),
                    format_percent({place.numbers.metric(metric), sum.metric(metric)})};
    line.function = names.place_function(place);
    line.location = names.place_location(place);
    line.callers = all->chains.back().get();
    if (metric == Metric::kLeaked) {
      line.callers = nullptr;
      line.remark = format_counted(place.numbers.leaked_blocks, "block");
    }
    section.lines.push_back(line);
  }
  if (!section.lines.empty()) all->sections.push_back(std::move(section));
}

std::string place_sections(const Profile& profile, const Painter& paint, size_t columns) {
  const PlaceTree tree = build_place_tree(profile);
  const FrameNames names(profile, tree);
  Gathered all;
  for (const Device& device : profile.devices) {
    if (!is_reserved_device(device.name)) gather(profile, tree, names, device, Metric::kPeak, &all);
  }
  for (const Device& device : profile.devices) {  // pages are mostly left to the kernel
    if (!is_mapped_device(device.name)) gather(profile, tree, names, device, Metric::kLeaked, &all);
  }
  std::vector<PlaceLine> lines;
  for (const Section& section : all.sections) lines.insert(lines.end(), section.lines.begin(), section.lines.end());
  size_t function_column = 0;
  const std::vector<std::string> texts = lay_out(names, lines, 2, columns, &function_column);
  std::string text;
  size_t next = 0;
  for (const Section& section : all.sections) {
    text += paint.bold(section.title) + "\n";
    for (size_t i = 0; i < section.lines.size(); ++i) text += texts[next++] + "\n";
  }
  return text;
}

// Who asked for memory that a device had not, and who had it.
std::string refusals(const Profile& profile, size_t columns) {
  const PlaceTree tree = build_place_tree(profile);
  const FrameNames names(profile, tree);
  std::string text;
  for (const Device& device : profile.devices)
    text += refusal_text(profile, tree, names, device, {1, kShownPlaces, columns});
  return text;
}

// What devices refused to the processes that are not shown.
std::string refusals_of_others(const ProcessTree* tree, const std::string& shown, size_t columns) {
  std::string text;
  size_t others = 0;
  for (size_t i = 0; tree != nullptr && i < tree->entries().size(); ++i) {
    const TreeEntry& entry = tree->entries()[i];
    for (const RefusedDevice& refused : entry.refused) {
      if (refused.path == shown) continue;  // told above
      if (++others > kShownPlaces) continue;
      const std::string times = refused.count == 1 ? "" : fmt::format(", {} times", format_count(refused.count));
      const std::string what = fmt::format(
          "{} {} in process {}{}", escape_controls(refused.device),
          refused.by_limit_count == refused.count ? "came to its limit" : "ran out of memory", entry.pid, times);
      const std::string who = short_command(entry.command, columns > 20 ? columns - 12 : 8);
      text += what + (refused.path.empty() ? "" : ": " + command_text({refused.path})) + "\n  " + who + "\n";
    }
  }
  if (others > kShownPlaces) text += fmt::format("and {} more\n", others - kShownPlaces);
  return text;
}

// What the table of peaks cannot show of devices.
std::string unseen(const Profile& profile, size_t columns) {
  std::vector<const Device*> devices;
  for (const Device& device : profile.devices) {
    if (device.unseen.has_any()) devices.push_back(&device);
  }
  if (devices.empty()) return "";
  const PlaceTree tree = build_place_tree(profile);
  return unseen_text(profile, tree, FrameNames(profile, tree), devices, false, columns);
}

std::string process_section(const SummaryInput& input, const Painter& paint, size_t columns) {
  const std::string rows = input.tree != nullptr ? tree_text(*input.tree, columns) : "";
  return rows.empty() ? "" : paint.bold(tree_title(*input.tree, columns)) + "\n" + rows;
}

// The sentence for a run that did not end by itself; empty for others.
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
    case EndKind::kDetached: return fmt::format("heapprof stopped watching at {}; the program runs on\n", at);
    case EndKind::kExited:
    case EndKind::kExec:
    case EndKind::kRunning:
    case EndKind::kUnknown: return "";
  }
  return "";
}

// The profile of the process with the largest peak besides the program itself.
const TreeEntry* largest_other(const ProcessTree* tree, size_t* count) {
  const TreeEntry* largest = nullptr;
  *count = 0;
  if (tree == nullptr) return nullptr;
  for (const TreeEntry& entry : tree->entries()) {
    if (entry.path.empty() || &entry == &tree->entries()[ProcessTree::kRoot]) continue;
    ++*count;
    if (largest == nullptr || largest_peak(entry) > largest_peak(*largest)) largest = &entry;
  }
  return largest;
}

// A file's name as it can be pasted, also where the terminal shows nothing but ASCII.
std::string pasted(const std::string& file, bool utf8) {
  std::string text = command_text({file});
  return utf8 || to_ascii(text) == text ? text : shell_quoted_in_ascii(file);
}

// What is shown in place of the program that was started; null: nothing.
const SavedProfile* shown_other(const SummaryInput& input) {
  return input.shown != nullptr && input.headline->other ? &*input.headline->other : nullptr;
}

std::string saved_lines(const SummaryInput& input, bool utf8) {
  const std::string file = pasted(input.file, utf8);
  std::string text;
  for (size_t i = 0; i < std::min(input.images.size(), kShownImages); ++i) {
    const SavedProfile& image = input.images[i];
    if (image.path.empty()) continue;
    text += fmt::format("image  {}  peak {}  {}\n", pasted(image.path, utf8), format_bytes(image.peak_bytes),
                        short_command(image.command, 40));
  }
  if (input.images.size() > kShownImages)
    text += fmt::format("image  and {} more\n", input.images.size() - kShownImages);
  size_t others = 0;
  const SavedProfile* other = shown_other(input);
  if (other != nullptr) {
    text += fmt::format("shown  {}  {}  {} lost\n", pasted(other->path, utf8), format_bytes(other->size_bytes),
                        format_counted(other->lost, "event"));
  } else if (const TreeEntry* largest = largest_other(input.tree, &others)) {
    const std::string which = others == 1 ? "" : fmt::format("  the largest of {} others", format_count(others));
    text += fmt::format("also   {}{}\n", pasted(largest->path, utf8), which);
  }
  text += fmt::format("saved  {}  {}  {} lost\n", file, format_bytes(input.file_bytes),
                      format_counted(input.profile.run.counters.lost, "event"));
  return text + fmt::format("next   heapprof report {}\n", other != nullptr ? pasted(other->path, utf8) : file);
}

// What the started program's functions are called does not matter where another's are shown.
std::string warning_text(const SummaryInput& input, const Terminal& terminal) {
  constexpr std::string_view kNoNames = "HP068";
  std::string text;
  for (const Profile* profile : {&input.profile, input.shown}) {
    if (profile == nullptr) continue;
    for (const Problem& warning : find_warnings(*profile)) {
      if (profile != input.shown && input.shown != nullptr && warning.id == kNoNames) continue;
      const std::string words = format_problem(warning, terminal);
      if (text.find(words) == std::string::npos) text += words;
    }
  }
  return text;
}

}  // namespace

std::string render_summary(const SummaryInput& input, const Terminal& terminal) {
  const Profile& profile = input.shown != nullptr ? *input.shown : input.profile;
  const Painter paint{terminal.colored};
  const size_t columns = static_cast<size_t>(terminal.columns);
  const bool has_refusals = std::any_of(profile.devices.begin(), profile.devices.end(),
                                        [](const Device& device) { return !device.refusals.empty(); });
  std::string text = header_line(input, paint, columns);
  if (input.shown != nullptr) text += headline_text(*input.headline, *input.saved, columns);
  text += "\n";
  const std::string refused =
      (has_refusals ? refusals(profile, columns) : "") +
      refusals_of_others(input.tree, input.shown != nullptr ? input.headline->other->path : input.file, columns);
  if (!refused.empty()) text += refused + "\n";
  text += device_table(profile) + unseen(profile, columns);
  if (!profile.devices.empty() && profile.merged.empty()) text += resident_lines(profile.devices[0].totals, columns);
  for (const std::string& part :
       {said_by_drivers(profile, columns), curves(profile), place_sections(profile, paint, columns),
        process_section(input, paint, columns), end_sentence(input.profile, input.shown == nullptr),
        warning_text(input, terminal), saved_lines(input, terminal.utf8)}) {
    if (!part.empty()) text += "\n" + part;
  }
  return terminal.utf8 ? text : to_ascii(text);
}

void print_summary(const SummaryInput& input, const RunOptions& options) {
  if (options.quiet) return;
  const Terminal terminal = inspect_terminal(STDERR_FILENO, options.color);
  const std::string text = options.no_summary ? warning_text(input, terminal)
                                              : (terminal.is_tty ? "\n" : "") + render_summary(input, terminal);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace heapprof::cli
