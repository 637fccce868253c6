// cli/write/check/check_words.cc: all outputs of a check show a number in the same words.
//
// A verdict goes to a terminal, to Markdown, to JUnit and to several services, and users compare it across them.
// Rounding is the one trap: 1,073,741,825 B over a limit of 1 GiB would read "1.00 GiB, limit 1.00 GiB". If rounding
// hides the difference to a limit or an expected value, both are shown to the byte.
#include "cli/write/check/check_words.h"

#include "cli/base/file_name.h"
#include "cli/base/hash.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace heapprof::cli {
namespace {

// If a rounded value outside its bounds would read as if it were inside, the value and the bounds are shown to the
// byte.
std::string bound_text(const Judged& line, uint64_t value) {
  if (!is_in_bytes(line.subject)) return amount_text(line.subject, value);
  const std::string found = format_bytes(line.value);
  bool is_vague = line.most && line.value > *line.most && found == format_bytes(*line.most);
  if (line.expect) {
    const std::string least = format_bytes(line.expect->least);
    const std::string most = format_bytes(line.expect->most);
    const bool is_outside = line.value < line.expect->least || line.value > line.expect->most;
    is_vague = is_vague || least == most || (is_outside && (found == least || found == most));
  }
  return is_vague ? format_count_exact(value) + " B" : format_bytes(value);
}

}  // namespace

namespace {

std::string subject_of(const Judged& line, std::string_view metric) {
  if (line.fact) return escape_controls(line.fact->what);
  const Subject& subject = line.subject;
  if (subject.scope) {
    const std::string device =
        !is_of_device(subject) || subject.device == "host" ? "" : " on " + escape_controls(subject.device);
    return fmt::format("{}: {}{}", scope_path_text(subject.scope->path), scope_shown(*subject.scope), device);
  }
  if (line.subtree.empty()) return fmt::format("{} {}", escape_controls(subject.device), metric);
  const std::string device = subject.device == "host" ? "" : escape_controls(subject.device) + " ";
  return fmt::format("{} {}{}", escape_controls(line.subtree), device, metric);
}

// Hundredths as "17", "1.5".
std::string average_text(uint64_t value) {
  const uint64_t part = value % kHundredths;
  const std::string whole = format_count_exact(value / kHundredths);
  if (part == 0) return whole;
  return part % 10 == 0 ? fmt::format("{}.{}", whole, part / 10) : fmt::format("{}.{:02}", whole, part);
}

}  // namespace

std::string subject_text(const Verdict& verdict, const Judged& line) {
  return subject_of(line, shown_metric(line.subject.metric, live_word(verdict.state.end)));
}

std::string subject_name(const Judged& line) { return subject_of(line, subject_word(line.subject)); }

std::string subject_key(const Judged& line) {
  if (line.fact) return "fact_" + line.fact->what;
  std::string key = line.subtree.empty() ? "" : line.subtree + "_";
  if (line.subject.scope) key = scope_path_text(line.subject.scope->path) + "_" + line.subject.scope->call + "_";
  key += line.subject.device + "_" + std::string(subject_word(line.subject)) + "_" + unit_name(line.subject);
  for (char& c : key) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!is_plain) c = '_';
  }
  return key;
}

std::string amount_text(const Subject& subject, uint64_t value) {
  if (is_in_bytes(subject)) return format_bytes(value);
  if (subject.scope && is_average(*subject.scope)) return average_text(value);
  if (!subject.is_share) return format_count_exact(value);
  return value % 100 == 0 ? fmt::format("{} %", value / 100) : fmt::format("{}.{:02} %", value / 100, value % 100);
}

std::string value_text(const Judged& line) {
  return line.fact ? escape_controls(line.fact->found) : bound_text(line, line.value);
}

std::string rule_name(const Judged& line) {
  if (line.subject.scope) return "scope";
  return line.fact ? "contract" : std::string(metric_word(line.subject.metric));
}

std::string excess_text(const Judged& line) {
  const auto beyond = [&](uint64_t bound) {
    return line.value >= bound ? "+" + amount_text(line.subject, line.value - bound)
                               : "−" + amount_text(line.subject, bound - line.value);
  };
  switch (line.reason) {
    case Reason::kOverLimit: return beyond(*line.most);
    case Reason::kBelowExpected: return beyond(line.expect->least);
    case Reason::kAboveExpected: return beyond(line.expect->most);
    case Reason::kOverBaseline: return beyond(*line.base);
    case Reason::kNearLimit:
    case Reason::kNone: return "";
  }
  return "";
}

std::string growth_text(uint64_t base, uint64_t value) {
  return base == value ? "±0" : format_change_percent({base, value});
}

std::string limit_text(const Judged& line) {
  if (line.fact) return "expected " + escape_controls(line.fact->wanted);
  std::string text = line.most ? "limit " + bound_text(line, *line.most) : "";
  if (!line.expect) return text;
  text += (text.empty() ? "expected " : ", expected ") + bound_text(line, line.expect->least);
  return line.expect->least == line.expect->most ? text : text + " to " + bound_text(line, line.expect->most);
}

std::string bounds_text(const Judged& line) {
  std::string text = limit_text(line);
  if (line.base) text += (text.empty() ? "" : ", ") + ("baseline " + amount_text(line.subject, *line.base));
  return text;
}

std::string culprit_source(const Culprit& culprit) {
  if (culprit.file.empty()) return escape_controls(culprit.module);
  return escape_controls(culprit.line > 0 ? fmt::format("{}:{}", culprit.file, culprit.line) : culprit.file);
}

std::string culprit_function(const Culprit& culprit) {
  return culprit.function.empty() ? "???" : escape_controls(culprit.function);
}

std::string culprit_text(const Judged& line) {
  if (!line.culprit) return "";
  const char* verb = line.culprit->is_growth ? "grew by" : metric_field_of(line.subject.metric).verb;
  Subject blocks = line.subject;
  blocks.is_share = false;
  return fmt::format("{} {} {}", culprit_function(*line.culprit), verb, amount_text(blocks, line.culprit->value));
}

std::string sentence(const Verdict& verdict, const Judged& line) {
  const std::string culprit = culprit_text(line);
  return fmt::format("{} {}, {}{}{}", subject_text(verdict, line), value_text(line), bounds_text(line),
                     culprit.empty() ? "" : "; ", culprit);
}

std::string trouble_text(const Verdict& verdict) {
  switch (verdict.state.trouble) {
    case Trouble::kProgramFailed: return "the program failed: " + end_text(verdict.state.end);
    case Trouble::kIncomplete: return "the profile is incomplete: " + escape_controls(verdict.state.reason);
    case Trouble::kNotJudged: return escape_controls(verdict.state.reason);
    case Trouble::kNone: break;
  }
  return "";
}

std::string unjudged_text(const Verdict& verdict) {
  const auto [processes, replaced] = verdict.unjudged;
  if (verdict.state.trouble != Trouble::kNone || processes + replaced == 0) return "";
  std::string text;
  if (processes > 0) text = format_counted(processes, "process") + " that it started";
  if (replaced > 0) {
    text += fmt::format("{}{} replaced by exec", text.empty() ? "" : " and ", format_counted(replaced, "program"));
  }
  return text + (processes + replaced == 1 ? " was not judged" : " were not judged");
}

std::string unit_name(const Subject& subject) {
  if (is_in_bytes(subject)) return "bytes";
  if (subject.scope) return is_average(*subject.scope) ? "hundredths" : "count";
  return subject.is_share ? "percent" : "blocks";
}

const char* outcome_word(const Judged& line, bool warn_only) {
  if (line.outcome == Outcome::kFail) return warn_only ? "warning" : "fail";
  return line.outcome == Outcome::kWarning ? "warning" : "ok";
}

std::string fingerprint(const Verdict& verdict, const Judged& line) {
  std::string what = line.subtree;
  if (line.subject.scope) {
    for (const ScopeName& scope : line.subject.scope->path) what += scope.category + '\0' + scope.name + '\0';
    what += line.subject.scope->call;
  }
  return hash_digits(verdict.name + '\0' + what + '\0' + subject_key(line));
}

std::string fingerprint(const Verdict& verdict, std::string_view what) {
  return hash_digits(verdict.name + '\0' + std::string(what));
}

namespace {

// A path from debug information or the user, relative to the project's folder; nullopt if it is outside.
std::optional<std::string> path_in_project(const std::string& path) {
  const std::string plain = std::filesystem::path(path).lexically_normal().string();
  if (plain.empty() || plain == "." || plain[0] == '/' || plain == ".." || plain.starts_with("../"))
    return std::nullopt;
  return plain;
}

}  // namespace

std::optional<FileLine> source_line(const std::string& folder, const Judged* line) {
  if (line == nullptr) return std::nullopt;
  if (line->culprit) {
    if (const auto file = path_in_project(line->culprit->file)) return FileLine{*file, line->culprit->line};
  }
  if (line->at.line == 0) return std::nullopt;  // from a flag
  const bool is_absolute = line->at.file.starts_with('/');
  const auto file = path_in_project(is_absolute ? line->at.file : folder + line->at.file);
  return file ? std::optional<FileLine>({*file, line->at.line}) : std::nullopt;
}

FileLine any_source_line(const std::string& folder, const Verdict& verdict, const Judged* line) {
  if (const auto source = source_line(folder, line)) return {source->file, std::max<uint64_t>(source->line, 1)};
  const std::string& profile = verdict.profile.empty() ? verdict.name : verdict.profile;
  return {path_in_project(folder + profile).value_or(base_name(profile)), 1};
}

}  // namespace heapprof::cli
