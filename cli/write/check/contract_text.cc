// cli/write/check/contract_text.cc: statements are sentences, so cells wrap; a number and its unit stay together.
#include "cli/write/check/contract_text.h"

#include "cli/base/text.h"
#include "cli/write/check/check_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr size_t kCells = 4;
constexpr size_t kVerdictCell = 2;
constexpr size_t kLeastCell = 24;  // columns of a statement, however narrow the terminal is
using CellLines = std::vector<std::string>;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

CellLines wrapped_cells(const std::vector<std::string>& pieces, size_t columns) {
  CellLines lines(1);
  for (const std::string& piece : pieces) {
    if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(piece) > columns) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + piece;
  }
  return lines;
}

// What was measured: for a broken contract, what broke it.
std::vector<std::string> measured(const Verdict& verdict) {
  if (verdict.state.trouble != Trouble::kNone) return words_of(trouble_text(verdict));
  std::vector<std::string> pieces;
  for (const Judged& line : verdict.judged) {
    if (verdict.failed() && line.outcome != Outcome::kFail) continue;
    if (!pieces.empty()) pieces.back() += ",";
    pieces.push_back(subject_text(verdict, line) + " " + value_text(line));
    if (line.outcome == Outcome::kFail) pieces.push_back("(" + bounds_text(line) + ")");
  }
  return pieces;
}

std::string paint(const std::string& text, const Verdict& verdict, const CheckReport& report, bool colored) {
  if (!colored) return text;
  const bool is_held = verdict.state.trouble == Trouble::kNone && !verdict.failed();
  const bool is_warning = verdict.state.trouble == Trouble::kNone && report.warn_only;
  return fmt::format("\x1b[{}m{}\x1b[0m", is_held ? "32" : is_warning ? "33" : "31", text);
}

std::array<size_t, kCells> cell_widths(const std::vector<const Verdict*>& shown, const Terminal& terminal) {
  std::array<size_t, kCells> widths = {2, 9, 7, 8};
  size_t statement = widths[1];
  for (const Verdict* verdict : shown) {
    widths[0] = std::max(widths[0], display_width(escape_controls(verdict->name)));
    statement = std::max(statement, display_width(escape_controls(verdict->statement)));
    widths[2] = std::max(widths[2], display_width(contract_word(*verdict)));
  }
  const size_t fixed = widths[0] + widths[2] + 2 * (kCells - 1);
  const size_t all = static_cast<size_t>(terminal.columns);
  const size_t room = all > fixed + 2 * kLeastCell ? all - fixed : 2 * kLeastCell;
  widths[1] = std::min(statement, room / 2);
  widths[3] = room - widths[1];
  return widths;
}

std::string render_row(const std::array<CellLines, kCells>& cells, const std::array<size_t, kCells>& widths,
                       const auto& paint_verdict) {
  size_t height = 0;
  for (const CellLines& cell : cells) height = std::max(height, cell.size());
  std::string text;
  for (size_t i = 0; i < height; ++i) {
    std::string line;
    for (size_t cell = 0; cell < kCells; ++cell) {
      const std::string part = i < cells[cell].size() ? cells[cell][i] : "";
      const std::string padded = cell + 1 == kCells ? part : pad_right(part, widths[cell]) + "  ";
      line += cell == kVerdictCell && i == 0 ? paint_verdict(padded) : padded;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

const char* contract_word(const Verdict& verdict) {
  if (verdict.state.trouble != Trouble::kNone) return "not judged";
  return verdict.failed() ? "broken" : "holds";
}

std::string contract_sum(const CheckReport& report) {
  size_t all = 0;
  size_t broken = 0;
  size_t unknown = 0;
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.statement.empty()) continue;
    ++all;
    if (verdict.state.trouble != Trouble::kNone) {
      ++unknown;
    } else if (verdict.failed()) {
      ++broken;
    }
  }
  if (all == 0) return "";
  const char* noun = all == 1 ? "contract" : "contracts";
  if (broken + unknown == 0) return fmt::format("{} {} {}", all, noun, all == 1 ? "holds" : "hold");
  const std::string of_all = fmt::format("of {} {}", all, noun);
  if (broken == 0) return fmt::format("{} {} not judged", unknown, of_all);
  return fmt::format("{} {} broken{}", broken, of_all, unknown > 0 ? fmt::format(", {} not judged", unknown) : "");
}

std::string contract_table(const CheckReport& report, const Terminal& terminal, bool quiet) {
  std::vector<const Verdict*> shown;
  for (const Verdict& verdict : report.verdicts) {
    const bool is_held = verdict.state.trouble == Trouble::kNone && !verdict.failed();
    if (!verdict.statement.empty() && !(quiet && is_held)) shown.push_back(&verdict);
  }
  if (shown.empty()) return "";
  const std::array<size_t, kCells> widths = cell_widths(shown, terminal);
  const auto columns = static_cast<size_t>(terminal.columns);
  if (widths[0] + widths[1] + widths[2] + widths[3] + 2 * (kCells - 1) > columns) {
    std::string text;
    for (const Verdict* verdict : shown) {
      text += escape_controls(verdict->name) + "  " +
              paint(contract_word(*verdict), *verdict, report, terminal.colored) + "\n";
      text += fitted("  " + escape_controls(verdict->statement) + "\n", columns);
      std::string found;
      for (const std::string& piece : measured(*verdict)) found += " " + piece;
      text += fitted(" " + found + "\n", columns);
    }
    return text + fitted(contract_sum(report) + "\n", columns);
  }
  const auto plain = [](const std::string& text) { return text; };
  std::string text =
      render_row({CellLines{"id"}, CellLines{"statement"}, CellLines{"verdict"}, CellLines{"measured"}}, widths, plain);
  for (const Verdict* verdict : shown) {
    text +=
        render_row({CellLines{escape_controls(verdict->name)},
                    wrapped_cells(words_of(escape_controls(verdict->statement)), widths[1]),
                    CellLines{contract_word(*verdict)}, wrapped_cells(measured(*verdict), widths[3])},
                   widths, [&](const std::string& word) { return paint(word, *verdict, report, terminal.colored); });
  }
  return text + contract_sum(report) + "\n";
}

}  // namespace heapprof::cli
