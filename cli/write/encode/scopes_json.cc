// cli/write/encode/scopes_json.cc: see scopes_json.h.
#include "cli/write/encode/scopes_json.h"

#include "cli/write/encode/field_writer.h"

namespace heapprof::cli {

void write_scopes(const Scopes& scopes, JsonWriter* json) {
  const FieldWriter fields(json);
  const auto write_scope = [&](const Scope& scope) {
    visit_scope(scope, fields);
    if (!scope.durations.empty()) {
      json->key("durations_count");
      json->begin_array();
      for (const uint64_t number : scope.durations) json->number(number);
      json->end_array();
    }
    if (!scope.memory.empty())
      write_structs(
          "memory", scope.memory, [&](const ScopeMemory& memory) { visit_scope_memory(memory, fields); }, json);
    if (!scope.calls.empty())
      write_structs(
          "calls", scope.calls, [&](const ScopeCall& call) { visit_scope_call(call, fields); }, json);
  };
  const auto write_mark = [&](const Mark& mark) {
    visit_mark(mark, fields);
    write_structs(
        "memory", mark.memory, [&](const MarkedMemory& memory) { visit_marked_memory(memory, fields); }, json);
  };
  const auto write_all = [&] {
    if (scopes.lost != 0) fields("lost_count", scopes.lost);
    if (scopes.lost_names != 0) fields("lost_names_count", scopes.lost_names);
    if (scopes.unmatched_ends != 0) fields("unmatched_ends_count", scopes.unmatched_ends);
    if (scopes.nvtx_left != 0) fields("nvtx_left_count", scopes.nvtx_left);
    write_structs("scopes", scopes.scopes, write_scope, json);
    if (scopes.lost_marks != 0) fields("lost_marks_count", scopes.lost_marks);
    if (!scopes.marks.empty()) write_structs("marks", scopes.marks, write_mark, json);
  };
  write_struct("scopes", write_all, json);
}

}  // namespace heapprof::cli
