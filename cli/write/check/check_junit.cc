// cli/write/check/check_junit.cc: JUnit's XML as GitHub, GitLab and Jenkins read it: a suite per program, a test case
// per limit.
#include "cli/base/text.h"
#include "cli/write/check/check_words.h"
#include "cli/write/check/formats.h"

#include <fmt/format.h>

namespace heapprof::cli {
namespace {

std::string xml(const std::string& text) {
  std::string safe;
  for (const char c : escape_controls(text)) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&apos;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string seconds(uint64_t duration_ns) {
  return fmt::format("{}.{:03}", duration_ns / 1'000'000'000, duration_ns / 1'000'000 % 1000);
}

std::string test_case(const Verdict& verdict, const Judged& line, bool warn_only) {
  const std::string begin = fmt::format(R"(    <testcase classname="heapprof.{}" name="{}" time="0.000")",
                                        xml(verdict.name), xml(subject_name(line)));
  const std::string words = sentence(verdict, line) + (line.culprit ? " at " + culprit_source(*line.culprit) : "");
  if (line.outcome == Outcome::kFail && !warn_only) {
    const std::string more = verdict.message.empty() ? "" : "\n" + verdict.message;
    return fmt::format("{}>\n      <failure type=\"limit\" message=\"{}\">{}{}</failure>\n    </testcase>\n", begin,
                       xml(sentence(verdict, line)), xml(words), more.empty() ? "" : "\n" + xml(verdict.message));
  }
  const char* warning = line.outcome == Outcome::kOk ? "" : "warning: ";
  return fmt::format("{}>\n      <system-out>{}{}</system-out>\n    </testcase>\n", begin, warning, xml(words));
}

}  // namespace

void write_check_junit(const CheckReport& report, ByteSink* sink) {
  std::string suites;
  size_t all = 0;
  size_t all_failures = 0;
  size_t all_errors = 0;
  for (const Verdict& verdict : report.verdicts) {
    const bool has_trouble = verdict.state.trouble != Trouble::kNone;
    const size_t failures = report.warn_only ? 0 : verdict.count(Outcome::kFail);
    const std::string unjudged = xml(unjudged_text(verdict));
    const size_t skipped = unjudged.empty() ? 0 : 1;
    const size_t tests = has_trouble ? 1 : verdict.judged.size() + skipped;
    suites +=
        fmt::format(R"(  <testsuite name="{}" tests="{}" failures="{}" errors="{}" skipped="{}" time="{}">)"
                    "\n",
                    xml(verdict.name), tests, failures, has_trouble ? 1 : 0, skipped, seconds(verdict.duration_ns));
    if (has_trouble) {
      const std::string words = xml(trouble_text(verdict));
      suites += fmt::format(
          "    <testcase classname=\"heapprof.{}\" name=\"run\" time=\"{}\">\n      <error type=\"run\" "
          "message=\"{}\">{}</error>\n    </testcase>\n",
          xml(verdict.name), seconds(verdict.duration_ns), words, words);
    }
    for (const Judged& line : verdict.judged) suites += test_case(verdict, line, report.warn_only);
    if (skipped > 0) {
      suites += fmt::format(
          "    <testcase classname=\"heapprof.{}\" name=\"other processes\" time=\"0.000\">\n      <skipped "
          "message=\"{}\"/>\n    </testcase>\n",
          xml(verdict.name), unjudged);
    }
    suites += "  </testsuite>\n";
    all += tests;
    all_failures += failures;
    all_errors += has_trouble ? 1 : 0;
  }
  sink->write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  sink->write(fmt::format("<testsuites name=\"heapprof\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n", all,
                          all_failures, all_errors));
  sink->write(suites);
  sink->write("</testsuites>\n");
}

}  // namespace heapprof::cli
