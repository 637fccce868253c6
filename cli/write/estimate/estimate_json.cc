// cli/write/estimate/estimate_json.cc: the numbers of estimate_text.cc for scripts; parts that were not requested have
// no key.
#include "cli/base/byte_sink.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/estimate/formats.h"

namespace heapprof::cli {
namespace {

void write_input(const EstimateInput& input, JsonWriter* json) {
  if (input.kind == EstimateKind::kTensor) {
    json->key("shape");
    json->begin_array();
    for (const uint64_t dimension : input.shape) json->number(dimension);
    json->end_array();
  }
  for (const auto& [name, value] : estimate_numbers(input)) json->count(name, value);
}

void write_memory(const EstimateResult& result, JsonWriter* json) {
  const MemoryAtHand& memory = *result.memory;
  json->new_line();
  json->key("memory");
  json->begin_object();
  json->flag("measured", memory.is_measured());
  if (memory.is_measured()) {
    json->text("device", memory.device);
    json->text("product", memory.product);
    json->count("total_bytes", memory.total_bytes);
    json->count("free_bytes", memory.free_bytes);
    if (memory.context_bytes) json->count("context_bytes", *memory.context_bytes);
  } else {
    json->count("limit_bytes", memory.free_bytes);
  }
  json->count("reserve_bytes", memory.reserve_bytes);
  json->count("available_bytes", memory.available_bytes());
  json->end_object();
  json->new_line();
  json->flag("fits", result.fits());
  if (!result.largest) return;
  json->key("largest");
  json->begin_object();
  json->text("of", result.largest->name);
  json->flag("any", result.largest->value == UINT64_MAX);
  if (result.largest->value != UINT64_MAX) json->count("value", result.largest->value);
  if (result.largest->value != UINT64_MAX) json->count("bytes_with_overhead", result.largest->bytes);
  json->end_object();
}

}  // namespace

std::string render_estimate_json(const EstimateResult& result, const Terminal&) {
  StringSink sink;
  JsonWriter json(&sink);
  json.begin_object();
  json.count("version", 1);
  json.text("kind", estimate_kind_name(result.input.kind));
  json.text("dtype", dtype_name(result.input.dtype));
  write_input(result.input, &json);
  json.new_line();
  json.count("elements", result.elements);
  json.count("bytes", result.bytes);
  json.text("formula", estimate_formula(result.input));
  json.key("overhead");
  json.real(result.input.overhead);
  json.count("bytes_with_overhead", result.needed_bytes);
  if (result.memory) write_memory(result, &json);
  json.end_object();
  json.finish();
  return sink.text();
}

}  // namespace heapprof::cli
