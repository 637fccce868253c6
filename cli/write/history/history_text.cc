// cli/write/history/history_text.cc: the table shows how each metric changed, the sentences below it when, and by which
// commit.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/metrics.h"
#include "cli/write/history/formats.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace heapprof::cli {
namespace {

constexpr size_t kSparkColumns = 20;
constexpr size_t kCommitColumns = 12;

// The values as block characters, scaled from the smallest to the largest value. If this range is below a twentieth of
// the largest value, the curve does not use all heights.
std::string spark(const std::vector<uint64_t>& values, size_t most_columns) {
  constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const uint64_t smallest = *std::min_element(values.begin(), values.end());
  const uint64_t largest = *std::max_element(values.begin(), values.end());
  const double span = std::max(static_cast<double>(largest - smallest), static_cast<double>(largest) / 20);
  const size_t columns = std::min(values.size(), most_columns);
  std::string text;
  for (size_t column = 0; column < columns; ++column) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(values.size() * column / columns);
    const auto end = values.begin() + static_cast<ptrdiff_t>(values.size() * (column + 1) / columns);
    const uint64_t value = *std::max_element(begin, end);
    const double height = span > 0 ? static_cast<double>(value - smallest) / span : 0;
    text += kBlocks[std::min<size_t>(static_cast<size_t>(height * kBlocks.size()), kBlocks.size() - 1)];
  }
  return text;
}

class HistoryText {
 public:
  HistoryText(const HistoryView& view, size_t columns) : view_(view), columns_(columns) {}

  std::string render() {
    write_head();
    for (size_t i = 0; i < view_.series.size();) {
      size_t end = i;
      while (end < view_.series.size() && view_.series[end].name == view_.series[i].name &&
             view_.series[end].device == view_.series[i].device)
        ++end;
      write_group(i, end);
      i = end;
    }
    return text_;
  }

 private:
  void write_head() {
    const std::vector<HistoryEntry>& entries = *view_.entries;
    text_ += escape_controls(view_.file);
    if (entries.empty()) {
      text_ += "  no entries\n";
      return;
    }
    const auto earlier = [](const HistoryEntry& a, const HistoryEntry& b) { return a.time_unix_ns < b.time_unix_ns; };
    const auto [first, last] = std::minmax_element(entries.begin(), entries.end(), earlier);
    text_ += fmt::format("  {}  {} … {}", format_counted(entries.size(), "entry"), start_text(first->time_unix_ns),
                         start_text(last->time_unix_ns));
    if (view_.lines_skipped > 0) text_ += fmt::format("  {} left out", format_counted(view_.lines_skipped, "line"));
    text_ += '\n';
  }

  std::string amount(Metric metric, uint64_t value) const {
    if (!is_in_bytes(metric)) return format_count(value);
    return view_.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  }

  std::string difference(Metric metric, const Change& change) const {
    if (!is_in_bytes(metric)) return format_change_count(change);
    return view_.exact_bytes ? format_change_bytes_exact(change) : format_change_bytes(change);
  }

  // The columns of the curve: those that the numbers leave.
  size_t spark_columns() const { return columns_ >= 60 ? kSparkColumns : columns_ >= 48 ? 8 : 0; }

  static std::string share(const Change& change) { return change.amount() == 0 ? "" : format_change_percent(change); }

  void write_group(size_t begin, size_t end) {
    const Series& head = view_.series[begin];
    const Series& longest = *std::max_element(
        view_.series.begin() + static_cast<ptrdiff_t>(begin), view_.series.begin() + static_cast<ptrdiff_t>(end),
        [](const Series& a, const Series& b) { return a.runs.size() < b.runs.size(); });
    const size_t runs = longest.runs.size();
    const auto exceeded = std::count_if(longest.runs.begin(), longest.runs.end(),
                                        [&](size_t run) { return (*view_.entries)[run].ok == false; });
    text_ += fmt::format("\n{}  {}  {}", escape_controls(head.name), escape_controls(head.device),
                         format_counted(runs, "run"));
    if (exceeded > 0) text_ += fmt::format(", {} beyond limits", exceeded);
    text_ += '\n';
    std::vector<std::array<std::string, 8>> rows = {{"", "", "first", "last", "change", "", "smallest", "largest"}};
    for (size_t i = begin; i < end; ++i) rows.push_back(row_of(view_.series[i]));
    write_rows(rows);
    for (size_t i = begin; i < end; ++i) {
      for (const TrendChange& trend_change : view_.series[i].trend_changes)
        write_trend_change(view_.series[i], trend_change);
    }
  }

  std::array<std::string, 8> row_of(const Series& series) const {
    const std::vector<uint64_t>& values = series.values;
    const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
    const Metric metric = series.metric;
    return {std::string(shown_metric(metric, kLiveAtEnd)),
            spark(values, spark_columns()),
            amount(metric, values.front()),
            amount(metric, values.back()),
            difference(metric, {values.front(), values.back()}),
            share({values.front(), values.back()}),
            amount(metric, *smallest),
            amount(metric, *largest)};
  }

  void write_rows(const std::vector<std::array<std::string, 8>>& rows) {
    std::array<size_t, 8> widths{};
    for (const auto& row : rows) {
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    // Columns that do not fit are left out from the right, in related pairs.
    size_t shown = widths.size();
    const auto width = [&] {
      return 2 * shown + std::accumulate(widths.begin(), widths.begin() + static_cast<ptrdiff_t>(shown), size_t{0});
    };
    while (shown > 4 && width() > columns_) shown -= 2;
    for (const auto& row : rows) {
      std::string line = "  ";
      for (size_t i = 0; i < shown; ++i) {
        if (i > 0) line += "  ";
        line += i < 2 ? pad_right(row[i], widths[i]) : pad_left(row[i], widths[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text_ += line + "\n";
    }
  }

  // "a1b2c3d4e5f6, 2026-11-03 10:00"
  std::string moment_of(const Series& series, size_t index) const {
    const HistoryEntry& entry = (*view_.entries)[series.runs[index]];
    const std::string commit = escape_controls(entry.commit);
    return fmt::format("{}, {}", commit.empty() ? "unknown commit" : shorten_commit(commit),
                       start_text(entry.time_unix_ns));
  }

  static std::string shorten_commit(const std::string& commit) {
    const bool is_hash = commit.size() >= 40 && commit.find_first_not_of("0123456789abcdef") == std::string::npos;
    return is_hash ? commit.substr(0, kCommitColumns) : commit;
  }

  void write_trend_change(const Series& series, const TrendChange& trend_change) {
    const Metric metric = series.metric;
    const bool is_rise = trend_change.after > trend_change.before;
    const std::string change =
        fmt::format("{} → {}, {}", amount(metric, trend_change.before), amount(metric, trend_change.after),
                    share({trend_change.before, trend_change.after}));
    if (trend_change.kind == TrendChange::Kind::kStep) {
      text_ +=
          fmt::format("  {} {}: {} at {}, run {} of {}{}\n", shown_metric(metric, kLiveAtEnd),
                      is_rise ? "rose" : "fell", change, moment_of(series, trend_change.first), trend_change.first + 1,
                      series.values.size(), trend_change.is_confirmed ? "" : " (too new to be sure)");
      return;
    }
    const uint64_t least = std::min(trend_change.before, trend_change.after);
    const std::string single =
        least > 0 ? format_percent({trend_change.largest_single, least}) : amount(metric, trend_change.largest_single);
    text_ += fmt::format("  {} drifts {}: {} over {} runs, no single change over {}\n    from {} to {}\n",
                         shown_metric(metric, kLiveAtEnd), is_rise ? "up" : "down", change,
                         trend_change.last - trend_change.first + 1, single, moment_of(series, trend_change.first),
                         moment_of(series, trend_change.last));
  }

  const HistoryView& view_;
  size_t columns_;
  std::string text_;
};

}  // namespace

std::string render_history_text(const HistoryView& view, const Terminal& terminal) {
  const auto columns = static_cast<size_t>(terminal.columns);
  const std::string text = fitted(HistoryText(view, columns).render(), columns);
  return terminal.utf8 ? text : to_ascii(text);
}

}  // namespace heapprof::cli
