// cli/write/check/check_github.cc: annotations for GitHub, which shows ten of a kind for a step and drops the others
// silently.
#include "cli/base/text.h"
#include "cli/write/check/check_report.h"
#include "cli/write/check/check_words.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr size_t kMostShown = 9;  // and one that says how many more there are

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

std::string annotation(const char* kind, const Verdict& verdict, const std::optional<FileLine>& source,
                       const std::string& words) {
  std::string where = source ? "file=" + property(source->file) + "," : "";
  if (source && source->line > 0) where += fmt::format("line={},", source->line);
  return fmt::format("::{} {}title=heapprof {}::{}\n", kind, where, property(verdict.name), data(words));
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
    if (const std::string trouble = trouble_text(verdict); !trouble.empty())
      errors.push_back(annotation("error", verdict, std::nullopt, trouble));
    if (const std::string unjudged = unjudged_text(verdict); !unjudged.empty())
      warnings.push_back(annotation("warning", verdict, std::nullopt, unjudged));
    for (const Judged& line : verdict.judged) {
      if (line.outcome == Outcome::kOk) continue;
      const bool is_over = line.outcome == Outcome::kFail;
      const bool is_error = is_over && !report.warn_only;
      const std::string message = is_over && !verdict.message.empty() ? ". " + verdict.message : "";
      (is_error ? errors : warnings)
          .push_back(annotation(is_error ? "error" : "warning", verdict, source_line(report.folder, &line),
                                sentence(verdict, line) + message));
    }
  }
  return limited("error", errors) + limited("warning", warnings);
}

}  // namespace heapprof::cli
