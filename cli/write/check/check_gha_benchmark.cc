// cli/write/check/check_gha_benchmark.cc: github-action-benchmark's "customSmallerIsBetter": a list of named numbers.
#include "cli/base/units.h"
#include "cli/write/check/check_words.h"
#include "cli/write/check/formats.h"
#include "cli/write/encode/json_stream.h"

#include <fmt/format.h>

namespace heapprof::cli {
namespace {

void write_entry(JsonWriter* json, const std::string& name, const char* unit, const Spread& spread, size_t runs) {
  json->new_line();
  json->begin_object();
  json->key("name");
  json->string(name);
  json->key("unit");
  json->string(unit);
  json->key("value");
  json->number(spread.median);
  if (runs > 1) {
    json->key("range");
    json->string(fmt::format("± {}", (spread.most - spread.least + 1) / 2));
    json->key("extra");
    json->string(fmt::format("median of {} runs", runs));
  }
  json->end_object();
}

}  // namespace

void write_check_gha_benchmark(const CheckReport& report, ByteSink* sink) {
  JsonWriter json(sink);
  json.begin_array();
  for (const Verdict& verdict : report.verdicts) {
    if (const uint64_t unjudged = verdict.unjudged.processes + verdict.unjudged.replaced; unjudged > 0)
      write_entry(&json, verdict.name + " not judged", "processes", {unjudged, unjudged, unjudged}, 1);
    for (const DeviceNumbers& device : verdict.devices) {
      const std::string name = verdict.name + " " + device.device + " ";
      for (const Metric metric : kMetrics) {
        if (!metric_field_of(metric).has_baseline) continue;  // the tool compares runs: only comparable metrics
        write_entry(&json, name + metric_word(metric), is_in_bytes(metric) ? "bytes" : "blocks", device[metric],
                    verdict.runs);
      }
    }
  }
  json.end_array();
  json.finish();
}

}  // namespace heapprof::cli
