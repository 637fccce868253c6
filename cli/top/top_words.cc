// cli/top/top_words.cc: changes are shown with a sign, and rates with their time unit, because otherwise a number does
// not say whether it is good.
#include "cli/top/top_words.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/top/top_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heapprof::cli {

namespace {

Change change_of(int64_t bytes) {
  return bytes >= 0 ? Change{0, static_cast<uint64_t>(bytes)} : Change{uint64_t{0} - static_cast<uint64_t>(bytes), 0};
}

std::string place_text(const TopPlace& place) {
  const std::string function = escape_controls(place.function);
  return place.location.empty() ? function : fmt::format("{} ({})", function, escape_controls(place.location));
}

}  // namespace

std::string growth_text(int64_t growth_bytes) { return format_change_bytes(change_of(growth_bytes)); }

LinePiece growth_piece(int64_t growth_bytes, size_t columns) {
  const auto sign = growth_bytes > 0   ? LinePiece::Sign::kGrowth
                    : growth_bytes < 0 ? LinePiece::Sign::kShrink
                                       : LinePiece::Sign::kNone;
  return {pad_left(growth_text(growth_bytes), columns), sign};
}

int64_t growth_per_second(const TopBoard& board, const TopNumbers& numbers) {
  const Change change = change_of(numbers.growth_bytes);
  const auto rate =
      static_cast<int64_t>(std::min<uint64_t>(rate_per_second(change.amount(), board.window_ns()), INT64_MAX));
  return change.is_growth() ? rate : -rate;
}

std::string rate_text(const TopBoard& board, const TopNumbers& numbers) {
  return fmt::format("{} allocs/s", format_count(rate_per_second(numbers.new_blocks, board.interval_ns())));
}

std::string window_text(const TopBoard& board) {
  return fmt::format("+{} s", std::max<uint64_t>(1, (board.window_ns() + 500'000'000) / 1'000'000'000));
}

std::string curve_text(const TopDeviceState& device, uint64_t now_ns, size_t columns, bool utf8) {
  constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<const char*, 8> kAscii = {"_", ".", ":", "-", "=", "+", "*", "#"};
  if (columns == 0 || device.curve.empty()) return "";
  std::vector<uint64_t> highest(columns, 0);
  std::vector<bool> is_known(columns, false);
  uint64_t most = 0;
  for (const TopDeviceState::Moment& moment : device.curve) {
    const uint64_t ago_ns = std::min(now_ns - std::min(now_ns, moment.at_ns), kTopCurveNs - 1);
    const size_t column = columns - 1 - static_cast<size_t>(ago_ns / (kTopCurveNs / columns + 1));
    highest[column] = std::max(highest[column], moment.live_bytes);
    is_known[column] = true;
    most = std::max(most, moment.live_bytes);
  }
  std::string text;
  for (size_t column = 0; column < columns; ++column) {
    // If samples are further apart than columns, a column without a sample has the value of the one before.
    if (!is_known[column] && column > 0 && is_known[column - 1]) {
      highest[column] = highest[column - 1];
      is_known[column] = true;
    }
    if (!is_known[column]) {
      text += ' ';
      continue;
    }
    const double share = most == 0 ? 0 : static_cast<double>(highest[column]) / static_cast<double>(most);
    text += (utf8 ? kBlocks : kAscii)[std::min<size_t>(static_cast<size_t>(share * 8), 7)];
  }
  return text;
}

std::string finding_text(const TopFinding& finding) {
  const std::string device = escape_controls(finding.device);
  switch (finding.kind) {
    case TopFindingKind::kLost:
      return fmt::format("{} lost: the numbers are too small", format_counted(finding.count, "event"));
    case TopFindingKind::kRefused:
      return fmt::format("{} had no memory for the program, {}", device, format_counted(finding.count, "time"));
    case TopFindingKind::kLimit:
      return fmt::format("{}: {} of its limit of {} are live", device, format_bytes(finding.bytes),
                         format_bytes(finding.limit_bytes));
    case TopFindingKind::kGrows:
      return fmt::format("{}: grows without a fall, {} in {}: {}", device,
                         growth_text(static_cast<int64_t>(finding.bytes)), format_duration(finding.time_ns),
                         place_text(finding.place));
    case TopFindingKind::kChurn:
      return fmt::format("{}: {} temporary blocks/s: {}", device, format_count(finding.count),
                         place_text(finding.place));
  }
  return "";
}

std::string scope_text(const TopBoard& board, const TopScopeState& scope) {
  const std::string open =
      scope.now.open_count == 0 ? "" : fmt::format("  {} open", format_count(scope.now.open_count));
  return fmt::format(
      "{}  ×{}  {}/s{}  {}/s allocated  peak inside {}", escape_controls(scope.now.path),
      format_count(scope.now.begun_count), format_count(rate_per_second(scope.new_begun, board.interval_ns())), open,
      format_bytes(rate_per_second(scope.new_bytes, board.interval_ns())), format_bytes(scope.now.peak_inside_bytes));
}

}  // namespace heapprof::cli
