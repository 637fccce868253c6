// cli/write/check_github.cc: GitHub shows ten annotations of a kind for a step, and drops the others without a word.
#include "cli/base/text.h"
#include "cli/write/check_report.h"
#include "cli/write/check_words.h"

#include <fmt/format.h>

#include <vector>

namespace heapprof::cli {
namespace {

constexpr size_t kMostShown = 9;  // and one for how many more there are

std::string data(const std::string& text) {
  std::string safe;
  for (const char c : escape_controls(text)) safe += c == '%' ? std::string("%25") : std::string(1, c);
  return safe;
}

std::string property(const std::string& text) {
  std::string safe;
  for (const char c : data(text))
    safe += c == ':' ? std::string("%3A") : c == ',' ? std::string("%2C") : std::string(1, c);
  return safe;
}

std::string annotation(const char* kind, const Verdict& verdict, const Judged* line) {
  std::string place;
  if (line != nullptr && line->culprit && is_in_project(*line->culprit)) {
    place = "file=" + property(line->culprit->file) + ",";
    if (line->culprit->line > 0) place += fmt::format("line={},", line->culprit->line);
  }
  const bool has_message = line != nullptr && line->outcome == Outcome::kFail && !verdict.message.empty();
  return fmt::format("::{} {}title=heapprof {}::{}{}\n", kind, place, property(verdict.name),
                     data(line == nullptr ? trouble_text(verdict) : sentence(*line)),
                     has_message ? ". " + data(verdict.message) : "");
}

std::string limited(const char* kind, const std::vector<std::string>& all) {
  std::string text;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == kMostShown && all.size() > kMostShown + 1)
      return text +
             fmt::format("::{} title=heapprof::and {} more; see the step's summary\n", kind, all.size() - kMostShown);
    text += all[i];
  }
  return text;
}

}  // namespace

std::string render_check_annotations(const CheckReport& report) {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.state.trouble != Trouble::kNone) errors.push_back(annotation("error", verdict, nullptr));
    for (const Judged& line : verdict.judged) {
      if (line.outcome == Outcome::kOk) continue;
      const bool is_error = line.outcome == Outcome::kFail && !report.warn_only;
      (is_error ? errors : warnings).push_back(annotation(is_error ? "error" : "warning", verdict, &line));
    }
  }
  return limited("error", errors) + limited("warning", warnings);
}

}  // namespace heapprof::cli
