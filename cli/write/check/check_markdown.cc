// cli/write/check/check_markdown.cc: a table for a step's summary or a comment; short enough for GitHub's 64 KiB
// comments.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/check/check_words.h"
#include "cli/write/check/contract_text.h"
#include "cli/write/check/formats.h"
#include "cli/write/encode/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr size_t kMostBytes = 60'000;  // of rows

std::string cell(const std::string& text) { return markdown_text(shorten_middle(escape_controls(text), 200)); }

std::string row(const Verdict& verdict, const Judged& line, bool warn_only) {
  const std::string who = line.culprit ? culprit_text(line) + " (" + culprit_source(*line.culprit) + ")" : "";
  const std::string change = line.outcome == Outcome::kFail ? excess_text(line)
                             : line.base                    ? growth_text(*line.base, line.value)
                                                            : "";
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", outcome_word(line, warn_only),
                     cell(subject_text(verdict, line)), cell(value_text(line)), cell(bounds_text(line)), change,
                     cell(who));
}

std::string title(const Verdict& verdict, bool warn_only) {
  if (verdict.state.trouble != Trouble::kNone)
    return fmt::format("### heapprof: {}: {}\n\nIts memory is not judged.\n", cell(verdict.name),
                       cell(trouble_text(verdict)));
  if (!verdict.statement.empty())
    return fmt::format("### heapprof: {}: {}\n\n{}\n", cell(verdict.name), contract_word(verdict),
                       cell(verdict.statement));
  const size_t over = verdict.count(Outcome::kFail);
  const size_t all = verdict.judged.size();
  const std::string limits = format_counted(all, "limit");
  const std::string words =
      over == 0 ? limits + " kept"
                : fmt::format("{} of {} exceeded{}", over, limits, warn_only ? " (only warned of)" : "");
  return fmt::format("### heapprof: {}: {}\n", cell(verdict.name), words);
}

}  // namespace

void write_check_markdown(const CheckReport& report, ByteSink* sink) {
  size_t bytes = 0;
  for (const Verdict& verdict : report.verdicts) {
    sink->write(title(verdict, report.warn_only) + "\n");
    if (const std::string unjudged = unjudged_text(verdict); !unjudged.empty()) sink->write(unjudged + ".\n\n");
    if (verdict.judged.empty()) continue;
    std::vector<const Judged*> lines;
    for (const Judged& line : verdict.judged) lines.push_back(&line);
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Judged* a, const Judged* b) { return a->outcome > b->outcome; });
    sink->write("| | what | measured | allowed | change | where |\n|---|---|--:|---|--:|---|\n");
    size_t left_out = 0;
    for (const Judged* line : lines) {
      const std::string text = row(verdict, *line, report.warn_only);
      if (bytes + text.size() <= kMostBytes) {
        bytes += text.size();
        sink->write(text);
      } else {
        ++left_out;
      }
    }
    if (left_out > 0) sink->write(fmt::format("\n… and {} more\n", left_out));
    if (verdict.failed() && !verdict.message.empty()) sink->write("\n" + cell(verdict.message) + "\n");
    sink->write("\n");
  }
}

}  // namespace heapprof::cli
