// cli/write/diff/diff_text.cc: a diff for people: what was compared, the totals, the places that explain them, and a
// sentence.
#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/diff/diff_table.h"
#include "cli/write/diff/diff_words.h"
#include "cli/write/diff/formats.h"
#include "cli/write/diff/names_section.h"
#include "cli/write/diff/scopes_section.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr size_t kDiffTop = 10;
constexpr size_t kDiffTitleColumns = 80;
constexpr size_t kMostNumbers = 12;  // of one scope

class DiffText {
 public:
  DiffText(const TwoProfiles& two, const DiffView& view, const Terminal& terminal)
      : two_(two),
        view_(view),
        paint_(terminal),
        columns_(static_cast<size_t>(terminal.columns)),
        words_(two, view),
        sections_(find_sections(two, view, kDiffTop)) {}

  std::string render() {
    headers();
    totals();
    for (const DiffSection& section : sections_) places(section);
    names();
    scopes();
    text_ += "\n";
    for (const std::string& sentence : words_.sentences(sections_)) text_ += paint_.bold(sentence) + "\n";
    for (const std::string& remark : words_.remarks()) text_ += remark + "\n";
    return text_;
  }

 private:
  // When the run started, how long it took, and how it ended.
  std::string facts(Side side) const {
    const Profile& profile = *two_.profiles[side];
    std::string text;
    if (two_.runs[side].size() > 1) text += fmt::format("median of {} runs  ", two_.runs[side].size());
    if (!profile.merged.empty()) return text + format_counted(profile.merged.back().input + 1, "profile") + " merged";
    if (profile.dialect == Dialect::kValgrind) return text + "valgrind --tool=dhat";
    if (profile.dialect == Dialect::kDhatRs) return text + "dhat-rs";
    return text + fmt::format("{}  {}  {}", start_text(profile.run.start_unix_ns),
                              length_text(profile, profile.run.duration_ns), end_text(profile.run.end));
  }

  // Shows the compared files; if a side has several runs, the median one.
  void headers() {
    constexpr size_t kWords = 13;  // "current  ", and the gaps
    const size_t facts_width = std::max(display_width(facts(kBase)), display_width(facts(kCurrent)));
    const size_t room = columns_ > facts_width + kWords + 16 ? columns_ - facts_width - kWords : 16;
    BySide<std::string> files;
    for (const Side side : kSides)
      files[side] = shorten_path(escape_controls(two_.runs[side][median_run(two_.runs[side])].file), room * 6 / 10);
    const size_t file_width = std::max(display_width(files[kBase]), display_width(files[kCurrent]));
    const size_t left = room > file_width ? room - file_width : 0;
    for (const Side side : kSides) {
      const std::vector<std::string>& command = two_.profiles[side]->run.command;
      text_ += rtrim(fmt::format("{}{}  {}  {}", side == kBase ? "base     " : "current  ",
                                 paint_.bold(pad_right(files[side], file_width)), pad_right(facts(side), facts_width),
                                 left >= 8 && !command.empty() ? short_command(command, left) : "")) +
               "\n";
    }
  }

  void totals() {
    const std::vector<MetricRow> rows = metric_rows(two_, view_);
    DiffTable table;
    table.left = 2;
    table.rows.push_back({"", "", "base", "current", "change", ""});
    std::string last;
    std::vector<std::string> marks;
    std::vector<std::string> devices;
    const auto resident = [&] {
      for (const ResidentRow& row : resident_rows(two_, last)) {
        table.rows.push_back({"", std::string(row.label), resident_text(view_, row.bytes[kBase]),
                              resident_text(view_, row.bytes[kCurrent]), "", ""});
        if (const std::optional<Change> change = row.change()) {
          table.rows.back()[4] = words_.change(Metric::kPeak, *change);
          table.rows.back()[5] = format_change_percent(*change);
        }
        marks.emplace_back();
        devices.push_back(last);
      }
    };
    for (const MetricRow& row : rows) {
      if (row.device != last) resident();
      const auto cell = [&](Side side, uint64_t number) {
        return row.is_in[side] ? words_.value(row.metric, number) : "-";
      };
      table.rows.push_back({row.device == last ? "" : escape_controls(row.device), words_.metric(row.metric),
                            cell(kBase, row.change.base), cell(kCurrent, row.change.current),
                            words_.change(row.metric, row.change), format_change_percent(row.change)});
      marks.push_back(paint_.mark(row));
      devices.push_back(row.device);
      last = row.device;
    }
    resident();
    constexpr size_t kMark = 3;
    const std::vector<std::string> lines = table.lines();
    const size_t widest =
        std::accumulate(lines.begin(), lines.end(), size_t{0},
                        [](size_t most, const std::string& line) { return std::max(most, display_width(line)); });
    text_ += "\n";
    if (widest + kMark > columns_) {
      for (size_t i = 0; i < marks.size(); ++i) {
        const std::vector<std::string>& row = table.rows[i + 1];
        text_ += fitted(fmt::format("{} {}  {} → {}  {}  {}{}\n", escape_controls(devices[i]), row[1], row[2], row[3],
                                    row[4], row[5], marks[i]),
                        columns_);
      }
      return;
    }
    text_ += lines[0] + "\n";
    for (size_t i = 0; i < marks.size(); ++i) text_ += lines[i + 1] + marks[i] + "\n";
  }

  void places(const DiffSection& section) {
    const Metric metric = section.row.metric;
    const std::string left =
        fmt::format("{} change by place ({})", words_.metric(metric), escape_controls(section.row.device));
    const std::string right =
        section.row.change.amount() == 0
            ? ""
            : fmt::format("{}explains {} of {}",
                          section.shown < section.places.size()
                              ? fmt::format("top {} of {}, ", section.shown, format_count(section.places.size()))
                              : "",
                          words_.explained(section), words_.change(metric, section.row.change));
    const size_t end = std::min(columns_, kDiffTitleColumns);
    const size_t used = display_width(left) + display_width(right);
    text_ += "\n" + rtrim(paint_.bold(left) + std::string(end > used + 2 ? end - used : 2, ' ') + right) + "\n";
    place_lines(section);
    if (section.unchanged > 0 && !view_.all)
      text_ += paint_.faint(fmt::format("{} unchanged within ±{} (--all)", format_counted(section.unchanged, "place"),
                                        words_.slack(metric))) +
               "\n";
  }

  void place_lines(const DiffSection& section) {
    const Metric metric = section.row.metric;
    std::vector<PlaceLine> lines;
    for (size_t i = 0; i < section.shown; ++i) {
      const PlaceChange& place = section.device->places[section.places[i]];
      const Change change = place.change(metric);
      PlaceLine line;
      line.numbers = {words_.change(metric, change), format_change_percent(change)};
      line.function = words_.function(place);
      line.location = words_.location(section.changed_frames[section.places[i]]);
      if (change.base > 0 && change.current > 0)
        line.remark = fmt::format("{} → {}", words_.value(metric, change.base), words_.value(metric, change.current));
      lines.push_back(std::move(line));
    }
    const PlaceTree& tree = two_.diff.trees[kCurrent];
    const FrameNames names(*two_.profiles[kCurrent], tree);
    size_t column = 0;
    const std::vector<std::string> texts = lay_out(names, lines, 0, columns_, &column);
    for (size_t i = 0; i < section.shown; ++i) {
      text_ += texts[i] + "\n";
      const PlaceChange& place = section.device->places[section.places[i]];
      const std::string callers =
          words_.callers(place, metric, true, columns_ > column + 14 ? columns_ - column - 2 : 12);
      if (!callers.empty()) text_ += std::string(column + 2, ' ') + paint_.faint(callers) + "\n";
    }
  }

  // The memory under the program's own names, a line each.
  void names() {
    constexpr size_t kMostColumns = 40;
    const NamesSection section = find_name_changes(two_, view_, kDiffTop);
    if (section.changes.empty()) return;
    text_ += "\n" + paint_.bold("NAMES") + "  " + format_counted(section.changes.size(), "change") + "\n";
    DiffTable table;
    table.left = 2;
    table.rows.push_back({"", "", "base", "current", "change", ""});
    for (size_t i = 0; i < section.shown; ++i) {
      const NameCells cells = name_cells(section.changes[i], view_);
      table.rows.push_back({shorten_middle(cells.name, kMostColumns), cells.number, cells.base, cells.current,
                            cells.change, cells.percent});
    }
    const std::vector<std::string> lines = table.lines();
    const bool is_wide = std::any_of(lines.begin(), lines.end(),
                                     [this](const std::string& line) { return display_width(line) > columns_; });
    for (size_t i = is_wide ? 1 : 0; i < lines.size(); ++i) {
      const std::vector<std::string>& row = table.rows[i];
      text_ += is_wide ? fitted(fmt::format("{} {}  {} → {}  {}  {}\n", row[0], row[1], row[2], row[3], row[4], row[5]),
                                columns_)
                       : lines[i] + "\n";
    }
    if (const size_t more = section.changes.size() - section.shown; more > 0)
      text_ += paint_.faint(format_counted(more, "more change") + " of names") + "\n";
  }

  // Shows the changed numbers of each scope below its path, in columns that all scopes share.
  void scopes() {
    const ScopesDiff& diff = two_.diff.scopes;
    const ScopesSection section = find_scopes(two_, view_, kDiffTop);
    if (section.scopes.empty()) return;
    text_ += "\n" + paint_.bold("SCOPES") + "  " + scopes_title(diff, section) + "\n";
    DiffTable table;
    table.left = 1;
    table.rows.push_back({"", "base", "current", "change", ""});
    std::vector<std::pair<size_t, std::string>> between;  // lines to insert before the row of that index
    for (size_t i = 0; i < (diff.is_in_both() ? section.shown : 0); ++i) {
      const ChangedScope& scope = section.scopes[i];
      between.emplace_back(table.rows.size(), shorten_middle(scope_path_text(diff, scope.place), columns_));
      const size_t shown = view_.all ? scope.numbers.size() : std::min(scope.numbers.size(), kMostNumbers);
      for (size_t n = 0; n < shown; ++n) {
        const ScopeCells cells = scope_cells(diff.scopes[scope.place], *scope.numbers[n], view_);
        table.rows.push_back({"  " + cells.number, cells.base, cells.current, cells.change, cells.percent});
      }
      if (const size_t more = scope.numbers.size() - shown; more > 0)
        between.emplace_back(table.rows.size(),
                             paint_.faint(fmt::format("  {} (--all)", format_counted(more, "further number"))));
    }
    if (!between.empty()) scope_lines(table, between);
    for (const std::string& remark : scopes_remarks(diff, section)) text_ += paint_.faint(remark) + "\n";
  }

  void scope_lines(const DiffTable& table, const std::vector<std::pair<size_t, std::string>>& between) {
    std::vector<std::string> lines = table.lines();
    const auto is_wide = [this](const std::string& line) { return display_width(line) > columns_; };
    if (std::any_of(lines.begin(), lines.end(), is_wide)) {
      lines[0].clear();
      for (size_t i = 1; i < lines.size(); ++i) {
        const std::vector<std::string>& row = table.rows[i];
        lines[i] = rtrim(fmt::format("{}  {} → {}  {}  {}", row[0], row[1], row[2], row[3], row[4]));
      }
    }
    auto next = between.begin();
    for (size_t i = 0; i <= lines.size(); ++i) {
      for (; next != between.end() && next->first == i; ++next) text_ += next->second + "\n";
      if (i < lines.size() && !lines[i].empty()) text_ += lines[i] + "\n";
    }
  }

  const TwoProfiles& two_;
  const DiffView& view_;
  DiffPaint paint_;
  size_t columns_;
  DiffWords words_;
  std::vector<DiffSection> sections_;
  std::string text_;
};

}  // namespace

std::string render_diff_text(const TwoProfiles& two, const DiffView& view, const Terminal& terminal) {
  const std::string text = fitted(DiffText(two, view, terminal).render(), static_cast<size_t>(terminal.columns));
  return terminal.utf8 ? text : to_ascii(text);
}

std::string render_sets_text(const TwoSets& two, const DiffView& view, const Terminal& terminal) {
  const DiffPaint paint(terminal);
  DiffTable table;
  table.left = 3;
  table.rows.push_back({"", "", "", "base", "current", "change", "", "factor"});
  std::vector<MetricRow> all;
  std::vector<const RunTotals*> named = {nullptr};  // by row: the run whose command begins the row
  for (const RunPair& pair : two.pairing.pairs) {
    const RunTotals* run = &two.runs[kCurrent][pair.current[0]];
    for (const MetricRow& row : metric_rows(two, pair, view, false)) {
      table.rows.push_back({"", escape_controls(row.device), std::string(shown_metric(row.metric, kLiveAtEnd)),
                            row.is_in[kBase] ? number_text(view, row.metric, row.change.base) : "-",
                            row.is_in[kCurrent] ? number_text(view, row.metric, row.change.current) : "-",
                            change_text(view, row.metric, row.change), format_change_percent(row.change),
                            format_factor(row.change)});
      all.push_back(row);
      named.push_back(run);
      run = nullptr;
    }
  }
  // Commands get the columns that are left beside the numbers and the mark after them.
  constexpr size_t kMark = 3;
  constexpr size_t kShortest = 12;
  size_t used = kMark;
  for (const std::string& line : table.lines()) used = std::max(used, display_width(line) + kMark);
  const auto columns = static_cast<size_t>(terminal.columns);
  const size_t room = columns > used + kShortest ? columns - used : kShortest;
  for (size_t i = 0; i < named.size(); ++i) {
    if (named[i] == nullptr) continue;
    table.rows[i][0] = named[i]->command.empty() ? shorten_path(escape_controls(named[i]->file), room)
                                                 : short_command(named[i]->command, room);
  }
  const std::vector<std::string> lines = table.lines();
  std::string text = lines[0] + "\n";
  for (size_t i = 0; i < all.size(); ++i) text += lines[i + 1] + paint.mark(all[i]) + "\n";
  const auto count = [&](auto predicate) {
    return static_cast<size_t>(std::count_if(all.begin(), all.end(), predicate));
  };
  const size_t grown = count([](const MetricRow& row) { return row.grew(); });
  const size_t within = count([](const MetricRow& row) { return row.is_within(); });
  text += fmt::format("\n{} of {} grew, {} fell, {} did not change.\n", grown, all.size(), all.size() - grown - within,
                      within);
  text = fitted(text, static_cast<size_t>(terminal.columns));
  return terminal.utf8 ? text : to_ascii(text);
}

}  // namespace heapprof::cli
