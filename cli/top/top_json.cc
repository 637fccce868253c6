// cli/top/top_json.cc: fields with the same meaning have the names of the profile and of the report's JSON.
#include "cli/top/top_json.h"

#include "cli/base/byte_sink.h"
#include "cli/model/top/top_findings.h"
#include "cli/write/encode/json_stream.h"

namespace heapprof::cli {

namespace {

void add_numbers(const TopNumbers& numbers, JsonWriter* json) {
  json->count("live_bytes", numbers.live_bytes);
  json->count("live_blocks_count", numbers.live_blocks);
  json->key("growth_bytes");
  json->signed_number(numbers.growth_bytes);
  json->count("total_bytes", numbers.total_bytes);
  json->count("allocations_count", numbers.total_blocks);
  json->count("new_allocations_count", numbers.new_blocks);
  json->count("new_temporary_count", numbers.new_temporary_blocks);
}

void add_device(const TopBoard& board, const TopDeviceState& device, TopSort sort, JsonWriter* json) {
  json->begin_object();
  json->text("name", device.now.name);
  TopNumbers numbers = device.sum;
  numbers.live_bytes = device.now.live_bytes;  // these are the collector's own counts
  numbers.live_blocks = device.now.live_blocks;
  add_numbers(numbers, json);
  json->count("peak_bytes", device.now.peak_bytes);
  json->count("peak_ns", device.now.peak_ns);
  if (device.now.limit_bytes != 0) json->count("limit_bytes", device.now.limit_bytes);
  json->count("refused_count", device.now.refused_count);
  json->key("places");
  json->begin_array();
  for (const TopRow& row : choose_top_rows(board, device.now.number, sort, "")) {
    json->new_line();
    json->begin_object();
    const TopPlace place = place_of_row(board, row);
    json->text("function", row.place == 0 ? "" : place.function);
    json->text("location", place.location);
    add_numbers(row.numbers, json);
    json->end_object();
  }
  json->end_array();
  json->end_object();
}

void add_scope(const TopScopeState& scope, JsonWriter* json) {
  json->begin_object();
  json->text("path", scope.now.path);
  json->count("begun_count", scope.now.begun_count);
  json->count("open_count", scope.now.open_count);
  json->count("time_ns", scope.now.time_ns);
  json->count("allocated_bytes", scope.now.allocated_bytes);
  json->count("freed_bytes", scope.now.freed_bytes);
  json->count("peak_inside_bytes", scope.now.peak_inside_bytes);
  json->count("new_begun_count", scope.new_begun);
  json->count("new_allocated_bytes", scope.new_bytes);
  json->end_object();
}

void add_finding(const TopFinding& finding, JsonWriter* json) {
  json->begin_object();
  json->text("kind", finding_word(finding.kind));
  if (!finding.device.empty()) json->text("device", finding.device);
  if (!finding.place.function.empty()) {
    json->text("function", finding.place.function);
    json->text("location", finding.place.location);
  }
  if (finding.bytes != 0) json->count("bytes", finding.bytes);
  if (finding.time_ns != 0) json->count("time_ns", finding.time_ns);
  if (finding.count != 0) json->count("count", finding.count);
  if (finding.limit_bytes != 0) json->count("limit_bytes", finding.limit_bytes);
  json->end_object();
}

}  // namespace

std::string top_json(const TopBoard& board, pid_t pid, const std::string& command, TopSort sort) {
  StringSink sink;
  JsonWriter json(&sink);
  json.begin_object();
  json.count("version", 1);
  json.count("pid", static_cast<uint64_t>(pid));
  json.text("command", command);
  json.count("running_ns", board.age_ns());
  json.count("interval_ns", board.interval_ns());
  json.count("window_ns", board.window_ns());
  json.count("lost_count", board.lost_count());
  json.key("devices");
  json.begin_array();
  for (const TopDeviceState& device : board.devices()) add_device(board, device, sort, &json);
  json.end_array();
  json.count("scope_count", board.scope_count());
  json.key("scopes");
  json.begin_array();
  for (const TopScopeState& scope : board.scopes()) add_scope(scope, &json);
  json.end_array();
  json.key("findings");
  json.begin_array();
  for (const TopFinding& finding : find_top_findings(board)) add_finding(finding, &json);
  json.end_array();
  json.end_object();
  json.finish();
  return sink.text();
}

}  // namespace heapprof::cli
