// cli/write/check/check_text.cc: one line per limit, in the same columns; at the end, the command that shows more.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/check/check_report.h"
#include "cli/write/check/check_words.h"
#include "cli/write/check/contract_text.h"
#include "cli/write/text/fold_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heapprof::cli {
namespace {

constexpr size_t kColumns = 8;
constexpr size_t kValueColumn = 3;
using LimitRow = std::array<std::string, kColumns>;  // FAIL, name, what, value, limit, baseline, difference, who

std::string difference(const Judged& line) {
  if (line.outcome != Outcome::kOk && line.reason != Reason::kNearLimit) {
    const bool is_growth = line.reason == Reason::kOverBaseline;
    return excess_text(line) + (is_growth && *line.base > 0 ? "  " + growth_text(*line.base, line.value) : "");
  }
  if (line.base) return growth_text(*line.base, line.value);
  if (line.most && *line.most > 0) return format_percent_rounded({line.value, *line.most});
  return "";
}

std::string who(const Judged& line) {
  if (!line.culprit) return "";
  const Culprit& culprit = *line.culprit;
  const std::string source = culprit_source(culprit);
  std::string text = source.empty() ? culprit_function(culprit) : source + " " + culprit_function(culprit);
  if (culprit.value < culprit.whole) text += " " + format_percent_rounded({culprit.value, culprit.whole});
  return text;
}

LimitRow row_of(const Verdict& verdict, const Judged& line, bool warn_only) {
  const bool is_over = line.outcome == Outcome::kFail;
  const char* word = is_over && !warn_only ? "FAIL" : line.outcome == Outcome::kOk ? "ok" : "warn";
  return {word,
          escape_controls(verdict.name),
          subject_text(verdict, line),
          value_text(line),
          limit_text(line),
          line.base ? "baseline " + amount_text(line.subject, *line.base) : "",
          difference(line),
          who(line)};
}

std::string paint(const std::string& text, bool colored) {
  if (!colored) return text;
  const char* color = text.starts_with("FAIL") ? "31" : text.starts_with("warn") ? "33" : "32";
  const size_t end = text.find(' ');
  return fmt::format("\x1b[{}m{}\x1b[0m{}", color, text.substr(0, end), text.substr(std::min(end, text.size())));
}

// The cells one after the other, as many as fit on a line.
std::string narrow_row(const LimitRow& row, size_t columns) {
  constexpr size_t kIndent = 6;
  std::string text = pad_right(row[0], kIndent - 2);
  size_t width = display_width(text);
  for (size_t i = 1; i < kColumns; ++i) {
    if (row[i].empty()) continue;
    const std::string cell = i + 1 == kColumns ? shorten_middle(row[i], columns - kIndent) : row[i];
    const bool fits = width + 2 + display_width(cell) <= columns;
    text += (fits ? "  " : "\n" + std::string(kIndent, ' ')) + cell;
    width = (fits ? width + 2 : kIndent) + display_width(cell);
  }
  return fitted(text + "\n", columns);
}

// The last cell (source and function) is cut if it does not fit on the line; numbers are never cut.
std::string table(const std::vector<LimitRow>& rows, const Terminal& terminal) {
  constexpr size_t kLeastLast = 20;     // columns of the last cell, however narrow the terminal is
  constexpr size_t kLongestLast = 200;  // if the output is not a terminal
  std::array<size_t, kColumns> widths{};
  for (const LimitRow& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const LimitRow& row : rows) {
    std::string line;
    for (size_t i = 0; i + 1 < kColumns; ++i) {
      if (widths[i] == 0) continue;
      line += (i == kValueColumn ? pad_left(row[i], widths[i]) : pad_right(row[i], widths[i])) + "  ";
    }
    const size_t used = display_width(line);
    if (terminal.is_fitted &&
        used + std::min(kLeastLast, widths[kColumns - 1]) > static_cast<size_t>(terminal.columns)) {
      text += paint(narrow_row(row, static_cast<size_t>(terminal.columns)), terminal.colored);
      continue;
    }
    const auto columns = static_cast<size_t>(terminal.columns);
    const size_t room = !terminal.is_fitted ? kLongestLast : columns > used + kLeastLast ? columns - used : kLeastLast;
    line += shorten_middle(row[kColumns - 1], room);
    line.erase(line.find_last_not_of(' ') + 1);
    text += paint(line, terminal.colored) + "\n";
  }
  return text;
}

std::string last_line(const Verdict& verdict, const Terminal& terminal) {
  const size_t over = verdict.count(Outcome::kFail);
  const size_t all = verdict.judged.size();
  const char* noun = !verdict.statement.empty() ? "claim" : "limit";
  const char* verb = !verdict.statement.empty() ? "broken" : "exceeded";
  std::string text = over > 0 ? fmt::format("{} of {} {}", over, format_counted(all, noun), verb)
                              : format_counted(all, noun) + " kept";
  if (verdict.baseline_runs > 0) text += " · baseline: median of " + format_counted(verdict.baseline_runs, "run");
  if (verdict.runs > 1) text += fmt::format(" · median of {} runs", verdict.runs);
  if (verdict.state.end.kind == EndKind::kUnknown) text += " · how the program ended is not known";
  if (const std::string unjudged = unjudged_text(verdict); !unjudged.empty()) text += " · " + unjudged;
  const std::string file = command_text({verdict.profile});
  const std::string line =
      verdict.profile.empty() ? text : fmt::format("{} · profile {} · heapprof report {}", text, file, file);
  const auto columns = static_cast<size_t>(terminal.columns);
  if (!terminal.is_fitted || display_width(line) <= columns) return line + "\n";
  const std::string sums = fitted(text + "\n", columns);
  return verdict.profile.empty() ? sums : sums + command_line("  ", "heapprof report", file, columns);
}

// Whether growth may be just the usual difference between two runs of one program; a single run cannot tell.
bool may_be_noise(const Verdict& verdict) {
  constexpr uint64_t kMostPercent = 10;
  return verdict.runs == 1 && std::any_of(verdict.judged.begin(), verdict.judged.end(), [](const Judged& line) {
           return line.reason == Reason::kOverBaseline && line.value - *line.base <= *line.base / 100 * kMostPercent;
         });
}

}  // namespace

std::string render_check_text(const CheckReport& report, const Terminal& terminal, bool quiet) {
  const auto fit = [&terminal](const std::string& lines) {  // in a log, lines are not broken
    return terminal.is_fitted ? fitted(lines, static_cast<size_t>(terminal.columns)) : lines;
  };
  std::string text;
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.state.trouble != Trouble::kNone) {
      const std::string where = verdict.profile.empty() ? "" : " · profile " + command_text({verdict.profile});
      text += paint(fit(fmt::format("FAIL  {}  {}; its memory is not judged{}\n", escape_controls(verdict.name),
                                    trouble_text(verdict), where)),
                    terminal.colored);
      continue;
    }
    std::vector<LimitRow> rows;
    const bool is_contract = !verdict.statement.empty();  // a contract that holds is in the table only
    for (const Judged& line : verdict.judged) {
      if (!(quiet || is_contract) || line.outcome != Outcome::kOk)
        rows.push_back(row_of(verdict, line, report.warn_only));
    }
    if (rows.empty() && (quiet || is_contract || verdict.judged.empty())) continue;
    text += table(rows, terminal) + last_line(verdict, terminal);
    if (report.has_run && may_be_noise(verdict))
      text += fit("two runs of one program may differ by so much: --runs 5 judges their median\n");
    const bool has_culprit = std::any_of(verdict.judged.begin(), verdict.judged.end(),
                                         [](const Judged& line) { return line.culprit.has_value(); });
    constexpr size_t kLogColumns = 120;
    const std::string folded =
        folded_text(verdict.folded, terminal.is_tty ? static_cast<size_t>(terminal.columns) : kLogColumns);
    if (has_culprit && !folded.empty()) text += folded + "\n";
    if (verdict.failed() && !verdict.message.empty()) text += fit(escape_controls(verdict.message) + "\n");
  }
  const std::string contracts = contract_table(report, terminal, quiet);
  if (!text.empty() && !contracts.empty()) text += "\n";
  text += contracts;
  return terminal.utf8 ? text : to_ascii(text);
}

}  // namespace heapprof::cli
