// cli/write/check/check_codequality.cc: GitLab's Code Quality report: a list of problems, each with a source in the
// project.
#include "cli/write/check/check_words.h"
#include "cli/write/check/formats.h"
#include "cli/write/encode/json_stream.h"

#include <string>

namespace heapprof::cli {
namespace {

struct Issue {
  std::string check;
  const char* severity;
  std::string words;
  FileLine source;
  std::string fingerprint;
};

void write_issue(JsonWriter* json, const Issue& issue) {
  json->new_line();
  json->begin_object();
  json->text("description", issue.words);
  json->text("check_name", "heapprof/" + issue.check);
  json->text("fingerprint", issue.fingerprint);
  json->text("severity", issue.severity);
  json->key("location");
  json->begin_object();
  json->key("path");
  json->string(issue.source.file);
  json->key("lines");
  json->begin_object();
  json->key("begin");
  json->number(issue.source.line);
  json->end_object();
  json->end_object();
  json->end_object();
}

}  // namespace

void write_check_codequality(const CheckReport& report, ByteSink* sink) {
  JsonWriter json(sink);
  json.begin_array();
  for (const Verdict& verdict : report.verdicts) {
    const std::string name = verdict.name + ": ";
    const FileLine somewhere = any_source_line(report.folder, verdict, nullptr);
    if (const std::string trouble = trouble_text(verdict); !trouble.empty())
      write_issue(&json, {"run", "blocker", name + trouble, somewhere, fingerprint(verdict, "run")});
    if (const std::string unjudged = unjudged_text(verdict); !unjudged.empty())
      write_issue(&json, {"processes", "info", name + unjudged, somewhere, fingerprint(verdict, "processes")});
    for (const Judged& line : verdict.judged) {
      if (line.outcome == Outcome::kOk) continue;
      const bool is_failure = line.outcome == Outcome::kFail && !report.warn_only;
      write_issue(&json, {rule_name(line), is_failure ? "major" : "minor", name + sentence(verdict, line),
                          any_source_line(report.folder, verdict, &line), fingerprint(verdict, line)});
    }
  }
  json.end_array();
  json.finish();
}

}  // namespace heapprof::cli
