// cli/write/report/scopes/scope_sums_json.cc: see json_parts.h.
#include "cli/model/analysis/operators.h"
#include "cli/write/encode/field_writer.h"
#include "cli/write/report/json_parts.h"

namespace heapprof::cli {

namespace {

void write_memory(const char* name, const std::vector<ScopeMemory>& all, JsonWriter* json) {
  write_structs(
      name, all,
      [json](const ScopeMemory& memory) {
        json->text("device", memory.device);
        json->count("allocated_bytes", memory.allocated_bytes);
        json->count("allocated_count", memory.allocated_blocks);
        json->count("freed_bytes", memory.freed_bytes);
        json->count("freed_count", memory.freed_blocks);
      },
      json);
}

void write_operators(const std::vector<OperatorSum>& sums, JsonWriter* json) {
  write_structs(
      "operators", sums,
      [json](const OperatorSum& sum) {
        json->text("operator", sum.name);
        json->count("begun_count", sum.begun);
        json->count("own_time_ns", sum.own_time_ns);
        write_memory("memory", sum.memory, json);
        json->count("backward_begun_count", sum.backward_begun);
        json->count("backward_time_ns", sum.backward_time_ns);
        write_memory("backward_memory", sum.backward_memory, json);
      },
      json);
}

}  // namespace

void write_scope_sums(const Scopes& scopes, const std::vector<CategoryRule>& rules, JsonWriter* json) {
  if (const std::vector<OperatorSum> sums = sum_operators(scopes); !sums.empty()) write_operators(sums, json);
  write_structs(
      "categories", sum_categories(scopes, rules),
      [json](const CategorySum& sum) {
        json->text("category", sum.category);
        json->count("scopes_count", sum.scopes);
        json->count("own_time_ns", sum.own_time_ns);
        write_memory("memory", sum.memory, json);
      },
      json);
}

}  // namespace heapprof::cli
