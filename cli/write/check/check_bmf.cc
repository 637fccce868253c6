// cli/write/check/check_bmf.cc: Bencher's metric format: benchmark, measure, value and the runs' range.
#include "cli/write/check/formats.h"
#include "cli/write/encode/json_stream.h"

#include <string>

namespace heapprof::cli {
namespace {

void write_measure(JsonWriter* json, const std::string& measure, const Spread& spread) {
  json->new_line();
  json->key(measure);
  json->begin_object();
  json->key("value");
  json->number(spread.median);
  json->key("lower_value");
  json->number(spread.least);
  json->key("upper_value");
  json->number(spread.most);
  json->end_object();
}

}  // namespace

void write_check_bmf(const CheckReport& report, ByteSink* sink) {
  JsonWriter json(sink);
  json.begin_object();
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.devices.empty()) continue;
    json.new_line();
    json.key(escape_controls(verdict.name));
    json.begin_object();
    for (const DeviceNumbers& device : verdict.devices) {
      for (const Metric metric : kMetrics) {
        const std::string measure = std::string(metric_word(metric)) + (is_in_bytes(metric) ? "-bytes" : "");
        write_measure(&json, escape_controls(device.device) + "-" + measure, device[metric]);
      }
    }
    const uint64_t unjudged = verdict.unjudged.processes + verdict.unjudged.replaced;
    if (unjudged > 0) write_measure(&json, "processes-not-judged", {unjudged, unjudged, unjudged});
    json.end_object();
  }
  json.end_object();
  json.finish();
}

}  // namespace heapprof::cli
