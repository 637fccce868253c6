// cli/write/check/check_sarif.cc: SARIF 2.1.0, for GitHub's code scanning and the editors that read it.
#include "cli/write/check/check_words.h"
#include "cli/write/check/formats.h"
#include "cli/write/encode/json_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr size_t kMostResults = 5000;  // as many as GitHub takes

struct Rule {
  const char* id;
  const char* text;
  const char* help;  // what to do
};
constexpr std::array kRules = {
    Rule{"peak", "More memory is live at once than the budget allows",
         "Free what is not needed at the peak, or raise the limit of peak in the budget. Where it is allocated: "
         "heapprof report --sort peak PROFILE."},
    Rule{"leaked", "More memory is live at the end than the budget allows",
         "Free it before the program ends, or raise the limit of leaked in the budget. Where it is allocated: "
         "heapprof report --sort leaked PROFILE."},
    Rule{"total", "More memory is allocated in all than the budget allows",
         "Reuse memory, or raise the limit of total in the budget. Where it is allocated: heapprof report --sort total "
         "PROFILE."},
    Rule{"allocations", "More blocks are allocated than the budget allows",
         "Reuse blocks or reserve room for several, or raise the limit of allocations in the budget. Where they are "
         "allocated: heapprof report --sort allocations PROFILE."},
    Rule{"temporary", "More blocks are temporary than the budget allows",
         "Reuse one buffer, or raise the limit of temporary in the budget. Where they are allocated: heapprof report "
         "--sort temporary PROFILE."},
    Rule{
        "scope", "A scope of the program takes or does more than the budget allows",
        "See what the scope does: heapprof report --scopes PROFILE. Then change it, or raise its limit in the budget."},
    Rule{"contract", "What a contract states besides memory does not hold",
         "The message says what was found and what was expected. Mend the program, or change the contract."},
    Rule{"run", "The program failed, or its profile is incomplete",
         "Run the program without heapprof and mend what fails. What a profile lacks: heapprof report PROFILE."},
    Rule{"processes", "Processes that the program started were not judged",
         "Give them a budget or a contract of their own: man heapprof-check."}};

void write_text(JsonWriter* json, const char* key, const std::string& text) {
  json->key(key);
  json->begin_object();
  json->key("text");
  json->string(text);
  json->end_object();
}

void write_rules(JsonWriter* json) {
  json->key("rules");
  json->begin_array();
  for (const Rule& rule : kRules) {
    json->new_line();
    json->begin_object();
    json->key("id");
    json->string(std::string("heapprof/") + rule.id);
    write_text(json, "shortDescription", rule.text);
    write_text(json, "fullDescription", fmt::format("{}. {}", rule.text, rule.help));
    write_text(json, "help", rule.help);
    json->end_object();
  }
  json->end_array();
}

// An artifact's location is a URI reference: characters that are not allowed in one are written as %XX.
std::string uri(const std::string& path) {
  std::string text;
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("-._~/+@").find(c) != std::string_view::npos;
    text += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

void write_location(JsonWriter* json, const FileLine& source) {
  json->key("locations");
  json->begin_array();
  json->begin_object();
  json->key("physicalLocation");
  json->begin_object();
  json->key("artifactLocation");
  json->begin_object();
  json->key("uri");
  json->string(uri(source.file));
  json->end_object();
  json->key("region");
  json->begin_object();
  json->count("startLine", source.line);  // the whole line: its columns are not known
  json->count("startColumn", 1);
  json->count("endLine", source.line);
  json->end_object();
  json->end_object();
  json->end_object();
  json->end_array();
}

struct SarifResult {
  std::string rule;
  const char* level;
  std::string words;
  FileLine source;
  std::string fingerprint;
};

void write_result(JsonWriter* json, const SarifResult& result) {
  json->new_line();
  json->begin_object();
  json->key("ruleId");
  json->string("heapprof/" + result.rule);
  json->key("level");
  json->string(result.level);
  write_text(json, "message", result.words);
  write_location(json, result.source);
  json->key("partialFingerprints");
  json->begin_object();
  json->text("primaryLocationLineHash", result.fingerprint + ":1");  // GitHub recognises a result by this name
  json->end_object();
  json->end_object();
}

std::vector<SarifResult> find_results(const CheckReport& report) {
  std::vector<SarifResult> results;
  for (const Verdict& verdict : report.verdicts) {
    const std::string name = verdict.name + ": ";
    const FileLine somewhere = any_source_line(report.folder, verdict, nullptr);
    if (const std::string trouble = trouble_text(verdict); !trouble.empty())
      results.push_back({"run", "error", name + trouble, somewhere, fingerprint(verdict, "run")});
    if (const std::string unjudged = unjudged_text(verdict); !unjudged.empty())
      results.push_back({"processes", "note", name + unjudged, somewhere, fingerprint(verdict, "processes")});
    for (const Judged& line : verdict.judged) {
      if (line.outcome == Outcome::kOk) continue;
      const bool is_failure = line.outcome == Outcome::kFail && !report.warn_only;
      results.push_back({rule_name(line), is_failure ? "error" : "warning", name + sentence(verdict, line),
                         any_source_line(report.folder, verdict, &line), fingerprint(verdict, line)});
    }
  }
  return results;
}

}  // namespace

void write_check_sarif(const CheckReport& report, ByteSink* sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.key("$schema");
  json.string("https://json.schemastore.org/sarif-2.1.0.json");
  json.key("version");
  json.string("2.1.0");
  json.key("runs");
  json.begin_array();
  json.begin_object();
  json.key("tool");
  json.begin_object();
  json.key("driver");
  json.begin_object();
  json.key("name");
  json.string("heapprof");
  json.key("semanticVersion");
  json.string(HEAPPROF_VERSION);
  write_rules(&json);
  json.end_object();
  json.end_object();
  json.key("results");
  json.begin_array();
  const std::vector<SarifResult> results = find_results(report);
  for (size_t i = 0; i < std::min(results.size(), kMostResults); ++i) write_result(&json, results[i]);
  json.end_array();
  json.end_object();
  json.end_array();
  json.end_object();
  json.finish();
}

}  // namespace heapprof::cli
