// cli/write/diff/diff_markdown.cc: a diff for pull requests: the sentences first, then the tables. Names are in code
// spans, so nothing in them is treated as markup.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/diff/diff_words.h"
#include "cli/write/diff/formats.h"
#include "cli/write/diff/names_section.h"
#include "cli/write/diff/scopes_section.h"
#include "cli/write/encode/markdown.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

namespace heapprof::cli {
namespace {

constexpr size_t kTop = 10;
constexpr size_t kLongestName = 100;

std::string code(const std::string& text, Where where = Where::kCell) {
  return markdown_code(shorten_middle(escape_controls(text), kLongestName), where);
}

const char* mark(const MetricRow& row) { return row.is_within() ? "" : row.grew() ? "▲" : "▼"; }

std::string row_text(const DiffView& view, const MetricRow& row, std::string_view metric) {
  const auto cell = [&](Side side, uint64_t number) {
    return row.is_in[side] ? number_text(view, row.metric, number) : "-";
  };
  return fmt::format("{} | {} | {} | {} | {}", metric, cell(kBase, row.change.base), cell(kCurrent, row.change.current),
                     change_text(view, row.metric, row.change), format_change_percent(row.change));
}

class DiffMarkdown {
 public:
  DiffMarkdown(const TwoProfiles& two, const DiffView& view)
      : two_(two), view_(view), words_(two, view), sections_(find_sections(two, view, kTop)) {}

  std::string render() {
    for (const std::string& sentence : words_.sentences(sections_)) text_ += "**" + markdown_text(sentence) + "**\n";
    for (const std::string& remark : words_.remarks()) text_ += markdown_text(remark) + "\n";
    text_ += "\n| | | base | current | change | | |\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n";
    const std::vector<MetricRow> rows = metric_rows(two_, view_);
    for (size_t i = 0; i < rows.size(); ++i) {
      const MetricRow& row = rows[i];
      text_ += fmt::format("| {} | {} | {} |\n", code(row.device), row_text(view_, row, words_.metric(row.metric)),
                           mark(row));
      if (i + 1 == rows.size() || rows[i + 1].device != row.device) resident(row.device);
    }
    for (const DiffSection& section : sections_) places(section);
    names();
    scopes();
    text_ += "\n";
    for (const Side side : kSides) {
      const std::vector<RunTotals>& runs = two_.runs[side];
      const RunTotals& run = runs[median_run(runs)];
      text_ += fmt::format("{}: {}{}{}\n", side == kBase ? "base" : "current", code(run.file, Where::kText),
                           runs.size() > 1 ? fmt::format(", median of {} runs", runs.size()) : "",
                           run.command.empty() ? "" : ", " + code(command_text(run.command), Where::kText));
      if (side == kBase) text_.insert(text_.size() - 1, "  ");  // a line break
    }
    return text_;
  }

 private:
  void resident(const std::string& device) {
    for (const ResidentRow& row : resident_rows(two_, device)) {
      const std::optional<Change> change = row.change();
      text_ += fmt::format("| {} | {} | {} | {} | {} | {} | |\n", code(device), row.label,
                           resident_text(view_, row.bytes[kBase]), resident_text(view_, row.bytes[kCurrent]),
                           change ? change_text(view_, Metric::kPeak, *change) : "",
                           change ? format_change_percent(*change) : "");
    }
  }

  void places(const DiffSection& section) {
    const Metric metric = section.row.metric;
    text_ += fmt::format("\n{} change by place ({}), explains {} of {}\n\n", words_.metric(metric),
                         markdown_text(section.row.device), words_.explained(section),
                         words_.change(metric, section.row.change));
    text_ += "| change | | function | where | base → current | called by |\n| ---: | ---: | --- | --- | --- | --- |\n";
    for (size_t i = 0; i < section.shown; ++i) {
      const PlaceChange& place = section.device->places[section.places[i]];
      const Change change = place.change(metric);
      const std::string location = words_.location(section.changed_frames[section.places[i]]);
      text_ += fmt::format("| {} | {} | {} | {} | {} → {} | {} |\n", words_.change(metric, change),
                           format_change_percent(change), code(words_.function(place)), code(location),
                           words_.value(metric, change.base), words_.value(metric, change.current),
                           code(words_.callers(place, metric, true, kLongestName)));
    }
    const size_t more = section.places.size() - section.shown;
    if (more > 0) text_ += fmt::format("\n{} more places changed.\n", format_count(more));
  }

  void names() {
    const NamesSection section = find_name_changes(two_, view_, kTop);
    if (section.changes.empty()) return;
    text_ += "\n| name of memory | | base | current | change | |\n| --- | --- | ---: | ---: | ---: | ---: |\n";
    for (size_t i = 0; i < section.shown; ++i) {
      const NameCells cells = name_cells(section.changes[i], view_);
      text_ += fmt::format("| {} | {} | {} | {} | {} | {} |\n", code(cells.name), markdown_text(cells.number),
                           cells.base, cells.current, cells.change, cells.percent);
    }
    const size_t more = section.changes.size() - section.shown;
    if (more > 0) text_ += fmt::format("\n{} of names.\n", format_counted(more, "more change"));
  }

  // A row for each changed number; a scope's name is only in its first row.
  void scopes() {
    const ScopesDiff& diff = two_.diff.scopes;
    const ScopesSection section = find_scopes(two_, view_, kTop);
    if (section.scopes.empty()) return;
    text_ += fmt::format("\nscopes: {}\n", scopes_title(diff, section));
    if (diff.is_in_both()) {
      text_ += "\n| scope | | base | current | change | |\n| --- | --- | ---: | ---: | ---: | ---: |\n";
      for (size_t i = 0; i < section.shown; ++i) {
        std::string name = code(scope_path_text(diff, section.scopes[i].place));
        for (const ScopeNumber* number : section.scopes[i].numbers) {
          const ScopeCells cells = scope_cells(diff.scopes[section.scopes[i].place], *number, view_);
          text_ += fmt::format("| {} | {} | {} | {} | {} | {} |\n", name, markdown_text(cells.number), cells.base,
                               cells.current, cells.change, cells.percent);
          name.clear();
        }
      }
    }
    for (const std::string& remark : scopes_remarks(diff, section)) text_ += "\n" + markdown_text(remark) + "\n";
  }

  const TwoProfiles& two_;
  const DiffView& view_;
  DiffWords words_;
  std::vector<DiffSection> sections_;
  std::string text_;
};

}  // namespace

std::string render_diff_markdown(const TwoProfiles& two, const DiffView& view, const Terminal&) {
  return DiffMarkdown(two, view).render();
}

std::string render_sets_markdown(const TwoSets& two, const DiffView& view, const Terminal&) {
  std::string text =
      "| command | | | base | current | change | | factor | |\n"
      "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n";
  for (const RunPair& pair : two.pairing.pairs) {
    const RunTotals& run = two.runs[kCurrent][pair.current[0]];
    for (const MetricRow& row : metric_rows(two, pair, view, false))
      text +=
          fmt::format("| {} | {} | {} | {} | {} |\n", code(run.command.empty() ? run.file : command_text(run.command)),
                      code(row.device), row_text(view, row, shown_metric(row.metric, kLiveAtEnd)),
                      format_factor(row.change), mark(row));
  }
  return text;
}

}  // namespace heapprof::cli
