// cli/write/check_codequality.cc: GitLab's Code Quality report: a list of what is wrong, each with a place in the project.
#include "cli/write/check_report.h"
#include "cli/write/check_words.h"
#include "cli/write/json_stream.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

struct Place {
  std::string path;
  uint64_t line = 1;
};

// The culprit, where it has a source in the project; else the limit's own line; else the profile's name.
Place place_of(const Verdict& verdict, const Judged* line) {
  if (line != nullptr && line->culprit && is_in_project(*line->culprit))
    return {line->culprit->file, std::max<uint64_t>(line->culprit->line, 1)};
  if (line != nullptr && line->at.line > 0) return {line->at.file, line->at.line};
  return {verdict.profile.empty() ? verdict.name : verdict.profile, 1};
}

void write_issue(JsonWriter* json, const Verdict& verdict, const Judged* line, const char* severity) {
  const Place place = place_of(verdict, line);
  json->new_line();
  json->begin_object();
  json->key("description");
  json->string(verdict.name + ": " + (line == nullptr ? trouble_text(verdict) : sentence(*line)));
  json->key("check_name");
  json->string(line == nullptr ? "heapprof/run" : "heapprof/" + rule_name(*line));
  json->key("fingerprint");
  json->string(fingerprint(verdict, line));
  json->key("severity");
  json->string(severity);
  json->key("location");
  json->begin_object();
  json->key("path");
  json->string(place.path);
  json->key("lines");
  json->begin_object();
  json->key("begin");
  json->number(place.line);
  json->end_object();
  json->end_object();
  json->end_object();
}

}  // namespace

void write_check_codequality(const CheckReport& report, ByteSink* sink) {
  JsonWriter json(sink);
  json.begin_array();
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.state.trouble != Trouble::kNone) write_issue(&json, verdict, nullptr, "blocker");
    for (const Judged& line : verdict.judged) {
      const bool is_failure = line.outcome == Outcome::kFail && !report.warn_only;
      if (line.outcome != Outcome::kOk) write_issue(&json, verdict, &line, is_failure ? "major" : "minor");
    }
  }
  json.end_array();
  json.finish();
}

}  // namespace heapprof::cli
