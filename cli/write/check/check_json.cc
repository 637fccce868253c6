// cli/write/check/check_json.cc: everything, for scripts: integers in bytes, blocks and hundredths of a percent.
#include "cli/write/check/check_words.h"
#include "cli/write/check/formats.h"
#include "cli/write/encode/json_stream.h"

namespace heapprof::cli {
namespace {

void write_culprit(JsonWriter* json, const Culprit& culprit) {
  json->key("culprit");
  json->begin_object();
  json->key("function");
  json->string(culprit.function);
  json->key("file");
  json->string(culprit.file);
  json->key("line");
  json->number(culprit.line);
  json->key("module");
  json->string(culprit.module);
  json->key("value");
  json->number(culprit.value);
  json->key("whole");
  json->number(culprit.whole);
  json->key("is_growth");
  json->boolean(culprit.is_growth);
  json->end_object();
}

void write_fact(JsonWriter* json, const Verdict& verdict, const Judged& line) {
  const auto text = [&](const char* name, const std::string& value) {
    json->key(name);
    json->string(value);
  };
  text("fact", line.fact->what);
  text("found", line.fact->found);
  text("expected", line.fact->wanted);
  text("sentence", sentence(verdict, line));
  json->end_object();
}

void write_scope(JsonWriter* json, const ScopeSubject& scope) {
  json->key("scope");
  json->begin_array();
  for (const ScopeName& name : scope.path) {
    json->begin_object();
    if (!name.category.empty()) json->text("category", name.category);
    json->text("name", name.name);
    json->end_object();
  }
  json->end_array();
  if (scope.metric == ScopeMetric::kCalls) json->text("call", scope.call);
}

void write_line(JsonWriter* json, const Verdict& verdict, const Judged& line, bool warn_only) {
  json->new_line();
  json->begin_object();
  json->key("outcome");
  json->string(outcome_word(line, warn_only));
  if (line.fact) {
    write_fact(json, verdict, line);
    return;
  }
  if (line.subject.scope) write_scope(json, *line.subject.scope);
  if (is_of_device(line.subject)) json->text("device", line.subject.device);
  json->key("metric");
  json->string(subject_word(line.subject));
  json->key("unit");
  json->string(line.subject.is_share ? "hundredths of a percent" : unit_name(line.subject));
  if (!line.subtree.empty()) {
    json->key("site");
    json->string(line.subtree);
  }
  const auto number = [&](const char* name, uint64_t value) {
    json->key(name);
    json->number(value);
  };
  number("value", line.value);
  if (line.most) number("limit", *line.most);
  if (line.expect) number("expected_least", line.expect->least);
  if (line.expect) number("expected_most", line.expect->most);
  if (line.base) number("baseline", *line.base);
  if (line.base) number("baseline_most", line.base_most);
  json->key("sentence");
  json->string(sentence(verdict, line));
  if (line.culprit) write_culprit(json, *line.culprit);
  json->end_object();
}

void write_devices(JsonWriter* json, const Verdict& verdict) {
  json->key("devices");
  json->begin_array();
  for (const DeviceNumbers& device : verdict.devices) {
    json->new_line();
    json->begin_object();
    json->key("device");
    json->string(device.device);
    for (const Metric metric : kMetrics) {
      json->key(metric_field(metric));
      json->number(device[metric].median);
    }
    json->end_object();
  }
  json->end_array();
}

void write_verdict(JsonWriter* json, const Verdict& verdict, bool warn_only) {
  const auto text = [&](const char* name, const std::string& value) {
    json->key(name);
    json->string(value);
  };
  json->new_line();
  json->begin_object();
  text("name", verdict.name);
  text("outcome", verdict.state.trouble == Trouble::kProgramFailed ? "program failed"
                  : verdict.state.trouble == Trouble::kIncomplete  ? "incomplete"
                  : verdict.state.trouble == Trouble::kNotJudged   ? "not judged"
                  : verdict.failed()                               ? (warn_only ? "warning" : "fail")
                                                                   : "ok");
  if (verdict.state.trouble != Trouble::kNone) text("trouble", trouble_text(verdict));
  json->key("command");
  json->begin_array();
  for (const std::string& word : verdict.command) json->string(word);
  json->end_array();
  text("profile", verdict.profile);
  text("baseline", verdict.baseline);
  if (verdict.baseline_runs > 0) {
    json->key("baseline_runs_count");
    json->number(verdict.baseline_runs);
  }
  if (!verdict.statement.empty()) text("statement", verdict.statement);
  text("message", verdict.message);
  json->key("runs_count");
  json->number(verdict.runs);
  json->key("duration_ns");
  json->number(verdict.duration_ns);
  json->key("processes_not_judged_count");
  json->number(verdict.unjudged.processes);
  json->key("programs_replaced_count");
  json->number(verdict.unjudged.replaced);
  write_devices(json, verdict);
  json->key("limits");
  json->begin_array();
  for (const Judged& line : verdict.judged) write_line(json, verdict, line, warn_only);
  json->end_array();
  json->end_object();
}

}  // namespace

void write_check_json(const CheckReport& report, ByteSink* sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.key("version");
  json.number(1);
  json.key("heapprof");
  json.string(HEAPPROF_VERSION);
  json.key("checks");
  json.begin_array();
  for (const Verdict& verdict : report.verdicts) write_verdict(&json, verdict, report.warn_only);
  json.end_array();
  json.end_object();
  json.finish();
}

}  // namespace heapprof::cli
