// cli/top/top_screen.cc: no line is wider than the terminal, because a line that wraps would push all others down.
#include "cli/top/top_screen.h"

#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/top/paint_lines.h"
#include "cli/top/top_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr size_t kReportRows = 20;
constexpr size_t kMostScopes = 3;
constexpr size_t kMostFindings = 3;
constexpr size_t kLongestCurve = 40;
constexpr size_t kLeastCurve = 4;

using Pieces = std::vector<LinePiece>;

const char* sort_word(TopSort sort) {
  switch (sort) {
    case TopSort::kLive: return "live";
    case TopSort::kGrowth: return "growth";
    case TopSort::kAllocations: return "allocs/s";
  }
  return "";
}

// How many lines each section has.
struct Shares {
  size_t devices = 0;
  size_t rows = 0;
  size_t scopes = 0;
  size_t findings = 0;
};

class Lines {
 public:
  Lines(const TopBoard& board, const TopView& view, size_t columns, const Terminal& look)
      : board_(board), view_(view), columns_(columns), look_(look) {}

  void add(Pieces pieces) { lines_.push_back(line_of_pieces(pieces, columns_, look_.utf8, look_.colored)); }
  std::vector<std::string> take() { return std::move(lines_); }
  size_t size() const { return lines_.size(); }

  void add_head(bool is_once) {
    std::string right = "running " + format_duration(board_.age_ns());
    if (!is_once) right += view_.is_frozen ? "   FROZEN" : "   every " + format_duration(view_.interval_ns);
    std::string left = fmt::format("heapprof top {}  ", view_.pid);
    const size_t used = left.size() + right.size() + 3;
    if (used > columns_) {
      right = format_duration(board_.age_ns()) + (view_.is_frozen ? " FROZEN" : "");
      left = fmt::format("{}  ", view_.pid);
    }
    const size_t room = columns_ - std::min(columns_, display_width(left) + display_width(right) + 2);
    left += shorten_middle(view_.command, room);
    const size_t end = columns_ - std::min(columns_, display_width(right));
    add({{pad_right(left, end)}, {right}});
  }

  // Adds `count` devices, including the one that the user has chosen.
  void add_devices(size_t count) {
    const std::vector<TopDeviceState>& devices = board_.devices();
    size_t first = view_.device + 1 > count ? view_.device + 1 - count : 0;
    const size_t end = std::min(devices.size(), first + count);
    std::vector<std::array<std::string, 5>> cells;
    std::array<size_t, 5> widths{};
    for (size_t i = first; i < end; ++i) {
      const TopDeviceState& device = devices[i];
      cells.push_back({escape_controls(device.now.name), format_bytes(device.now.live_bytes),
                       "peak " + format_bytes(device.now.peak_bytes),
                       growth_text(growth_per_second(board_, device.sum)) + "/s", rate_text(board_, device.sum)});
      for (size_t cell = 0; cell < widths.size(); ++cell)
        widths[cell] = std::max(widths[cell], display_width(cells.back()[cell]));
    }
    const bool marks = devices.size() > 1;
    for (size_t i = first; i < end; ++i) {
      const std::array<std::string, 5>& cell = cells[i - first];
      Pieces pieces;
      size_t used = 0;
      const auto put = [&](LinePiece piece) {
        used += display_width(piece.text);
        pieces.push_back(std::move(piece));
      };
      if (marks) put({i == view_.device ? "> " : "  "});
      put({pad_right(cell[0], widths[0])});
      const int64_t growth = growth_per_second(board_, devices[i].sum);
      const auto sign = growth_piece(growth, 0).sign;
      // If the columns do not fit, allocations are left out first, then the peak. Live bytes and their growth stay.
      const size_t need_all = used + widths[1] + widths[2] + widths[3] + widths[4] + 8;
      const bool has_rate = need_all <= columns_;
      const bool has_peak = has_rate || need_all - widths[4] - 2 <= columns_;
      put({"  " + pad_left(cell[1], widths[1])});
      if (has_peak) put({"  " + pad_right(cell[2], widths[2])});
      put({"  " + pad_left(cell[3], widths[3]), sign});
      if (has_rate) put({"  " + pad_left(cell[4], widths[4])});
      if (has_rate && used + 2 + kLeastCurve <= columns_) {
        const size_t room = std::min(columns_ - used - 2, kLongestCurve);
        put({"  " + curve_text(devices[i], devices[i].curve.back().at_ns, room, look_.utf8)});
      }
      add(std::move(pieces));
    }
  }

  void add_table(const std::vector<TopRow>& rows, size_t count) {
    const bool has_rates = columns_ >= 56;
    const bool has_shares = columns_ >= 46;
    const uint64_t whole = board_.devices().empty() ? 0 : board_.devices()[view_.device].sum.live_bytes;
    const size_t live = 10;
    const size_t growth = 11;
    Pieces head = {{pad_left("live", live)}};
    if (has_shares) head.push_back({pad_left("%", 8)});
    head.push_back({pad_left(window_text(board_), growth)});
    if (has_rates) head.push_back({pad_left("allocs/s", 11)});
    std::string title = "  place";
    if (view_.scroll != 0 || rows.size() > count)
      title += fmt::format("  {}-{} of {}", std::min(rows.size(), view_.scroll + 1),
                           std::min(rows.size(), view_.scroll + count), rows.size());
    if (!view_.filter.empty() && !view_.is_typing) title += fmt::format("  with '{}'", escape_controls(view_.filter));
    head.push_back({title});
    add(std::move(head));
    for (size_t i = view_.scroll; i < std::min(rows.size(), view_.scroll + count); ++i) {
      const TopNumbers& numbers = rows[i].numbers;
      Pieces line = {{pad_left(format_bytes(numbers.live_bytes), live)}};
      if (has_shares) line.push_back({pad_left(format_percent({numbers.live_bytes, whole}), 8)});
      line.push_back(growth_piece(numbers.growth_bytes, growth));
      if (has_rates)
        line.push_back({pad_left(format_count(rate_per_second(numbers.new_blocks, board_.interval_ns())), 11)});
      size_t used = 2;
      for (const LinePiece& piece : line) used += display_width(piece.text);
      line.push_back({"  " + place_text(rows[i], columns_ - std::min(columns_, used))});
      add(std::move(line));
    }
  }

  void add_scopes(size_t count) {
    const size_t all = std::max<size_t>(board_.scope_count(), board_.scopes().size());
    add({{all > count ? fmt::format("scopes that allocated most, {} of {}", count, all) : "scopes"}});
    for (size_t i = 0; i < count; ++i) add({{"  " + scope_text(board_, board_.scopes()[i])}});
  }

  void add_findings(const std::vector<TopFinding>& findings, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const bool is_last = i + 1 == count && findings.size() > count;
      const std::string more = is_last ? fmt::format("  and {} more", findings.size() - count) : "";
      add({{"! " + shorten_middle(finding_text(findings[i]), columns_ - std::min(columns_, 2 + more.size())) + more}});
    }
  }

  void add_keys() {
    if (view_.is_typing)
      return add({{fmt::format("filter: {}_   Enter keeps it, Esc clears it", escape_controls(view_.filter))}});
    if (!view_.message.empty()) return add({{view_.message}});
    const std::string sort = fmt::format("s sort: {}", sort_word(view_.sort));
    const std::string all = fmt::format("q quit  d device  {}  f filter  space {}  w snapshot  ? help", sort,
                                        view_.is_frozen ? "go on" : "freeze");
    add({{display_width(all) <= columns_ ? all : fmt::format("q quit  {}  ? help", sort)}});
  }

 private:
  std::string place_text(const TopRow& row, size_t columns) const {
    const TopPlace place = place_of_row(board_, row);
    const std::string function = escape_controls(place.function);
    const std::string location = escape_controls(place.location);
    const size_t both = display_width(function) + display_width(location) + 2;
    if (location.empty()) return shorten_function(function, columns);
    if (both <= columns) return function + "  " + location;
    constexpr size_t kLeastLocation = 12;
    if (columns < 3 * kLeastLocation) return shorten_function(function, columns);
    const size_t for_function = std::min(
        display_width(function), std::max(columns / 2, columns - std::min(columns, display_width(location) + 2)));
    return shorten_function(function, for_function) + "  " + shorten_path(location, columns - for_function - 2);
  }

  const TopBoard& board_;
  const TopView& view_;
  size_t columns_;
  const Terminal& look_;
  std::vector<std::string> lines_;
};

Shares share_out(size_t lines, size_t devices, size_t scopes, size_t findings) {
  Shares shares;
  // The head line, the line of keys, and the heading of the table are always there.
  size_t left = lines - std::min<size_t>(lines, 3);
  shares.devices = std::min({devices, std::max<size_t>(1, lines / 4), left});
  left -= shares.devices;
  shares.findings = std::min({findings, lines >= 16 ? kMostFindings : size_t{1}, left / 3});
  left -= shares.findings;
  if (lines >= 18 && scopes != 0) {
    shares.scopes = std::min(scopes, kMostScopes);
    left -= shares.scopes + 1;
  }
  shares.rows = left;
  return shares;
}

std::vector<std::string> help_lines() {
  return {"",
          "  q         quit; the program runs on",
          "  d         the next device",
          "  s         sort by live bytes, growth, allocations/s",
          "  f  /      show places with a text alone; Esc clears it",
          "  space     freeze; again: go on",
          "  w         write the profile so far to a file",
          "  arrows    scroll, also PgUp, PgDn, Home, End",
          "  ?         this; again: back",
          "",
          "  +10 s     live now less live 10 s ago, as far as it was watched",
          "  allocs/s  since the sample before"};
}

}  // namespace

std::vector<std::string> draw_top(const TopBoard& board, TopView* view, ScreenSize size, const Terminal& look) {
  const auto height = static_cast<size_t>(std::max(size.lines, 1));
  const auto width = static_cast<size_t>(std::max(size.columns, 1));
  Lines lines(board, *view, width, look);
  lines.add_head(false);
  if (view->shows_help) {
    for (const std::string& line : help_lines()) lines.add({{line}});
  } else if (!board.has_sample() || board.devices().empty()) {
    lines.add({{""}});
    lines.add({{"waiting for the first numbers"}});
  } else {
    view->device = std::min(view->device, board.devices().size() - 1);
    const std::vector<TopFinding> findings = find_top_findings(board);
    const Shares shares = share_out(height, board.devices().size(), board.scopes().size(), findings.size());
    const std::vector<TopRow> rows =
        choose_top_rows(board, board.devices()[view->device].now.number, view->sort, view->filter);
    view->scroll = std::min(view->scroll, rows.size() - std::min(rows.size(), shares.rows));
    lines.add_devices(shares.devices);
    lines.add_table(rows, shares.rows);
    while (lines.size() + shares.scopes + (shares.scopes != 0 ? 1 : 0) + shares.findings + 1 < height) lines.add({});
    if (shares.scopes != 0) lines.add_scopes(shares.scopes);
    lines.add_findings(findings, shares.findings);
  }
  while (lines.size() + 1 < height) lines.add({});
  if (height > 1) lines.add_keys();
  std::vector<std::string> drawn = lines.take();
  if (drawn.size() > height) {  // the line of keys must stay
    std::swap(drawn[height - 1], drawn.back());
    drawn.resize(height);
  }
  return drawn;
}

std::vector<std::string> top_report(const TopBoard& board, const TopView& view, const Terminal& look) {
  Lines lines(board, view, static_cast<size_t>(look.columns), look);
  lines.add_head(true);
  if (board.devices().empty()) return lines.take();
  const std::vector<TopRow> rows =
      choose_top_rows(board, board.devices()[view.device].now.number, view.sort, view.filter);
  const std::vector<TopFinding> findings = find_top_findings(board);
  lines.add_devices(board.devices().size());
  lines.add({});
  lines.add_table(rows, kReportRows);
  if (!board.scopes().empty()) {
    lines.add({});
    lines.add_scopes(std::min(board.scopes().size(), kReportRows));
  }
  if (!findings.empty()) lines.add({});
  lines.add_findings(findings, std::min(findings.size(), kReportRows));
  return lines.take();
}

std::string top_line(const TopBoard& board, const Terminal& look) {
  std::string line = format_duration(board.age_ns());
  for (const TopDeviceState& device : board.devices()) {
    line += fmt::format("  {} {} {}/s {}", escape_controls(device.now.name), format_bytes(device.now.live_bytes),
                        growth_text(growth_per_second(board, device.sum)), rate_text(board, device.sum));
  }
  if (!board.devices().empty()) {
    const std::vector<TopRow> rows = choose_top_rows(board, board.devices()[0].now.number, TopSort::kGrowth, "");
    if (!rows.empty() && rows[0].numbers.growth_bytes > 0) {
      const TopPlace place = place_of_row(board, rows[0]);
      line +=
          fmt::format("  {} {}: {} {}", growth_text(rows[0].numbers.growth_bytes), "in " + window_text(board).substr(1),
                      escape_controls(place.function), escape_controls(place.location));
    }
  }
  return look.utf8 ? line : to_ascii(line);
}

}  // namespace heapprof::cli
