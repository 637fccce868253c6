// cli/read/scope_reader.cc: an object's fields are those of cli/model/profile/fields.h; its lists are read
// beside them.
#include "cli/read/scope_reader.h"

#include "cli/read/field_reader.h"

#include <string>

namespace heapprof::cli {
namespace {

// One object: the fields that visit(reader) knows, and members that read_other(key) takes.
template <typename Visit, typename ReadOther>
void read_object(JsonPull* json, const Visit& visit, const ReadOther& read_other) {
  if (!json->begin_object()) return;
  std::string key;
  while (json->next_key(&key)) {
    FieldReader reader(json, key);
    visit(reader);
    if (reader.index() < 0 && !read_other(key)) json->skip_value();
  }
}

void read_durations(JsonPull* json, Scope* scope) {
  scope->durations.clear();
  read_numbers(json, &scope->durations);
  if (scope->durations.size() % 2 != 0) json->fail("counts of durations are an odd number of numbers");
  for (size_t i = 0; i + 1 < scope->durations.size(); i += 2) {
    if (scope->durations[i] >= kDurationBuckets || (i != 0 && scope->durations[i] <= scope->durations[i - 2]))
      json->fail("a scope's durations are not in order");
  }
}

void read_scope(JsonPull* json, Scope* scope) {
  read_object(
      json, [scope](FieldReader& reader) { visit_scope(*scope, reader); },
      [&](const std::string& key) {
        if (key == "durations_count") {
          read_durations(json, scope);
        } else if (key == "memory" && scope->memory.empty()) {
          read_structs(json, &scope->memory,
                       [](ScopeMemory& memory, FieldReader& reader) { visit_scope_memory(memory, reader); });
        } else if (key == "calls" && scope->calls.empty()) {
          read_structs(json, &scope->calls,
                       [](ScopeCall& call, FieldReader& reader) { visit_scope_call(call, reader); });
        } else {
          return false;
        }
        return true;
      });
}

void read_mark(JsonPull* json, Mark* mark) {
  read_object(
      json, [mark](FieldReader& reader) { visit_mark(*mark, reader); },
      [&](const std::string& key) {
        if (key != "memory" || !mark->memory.empty()) return false;
        read_structs(json, &mark->memory,
                     [](MarkedMemory& memory, FieldReader& reader) { visit_marked_memory(memory, reader); });
        return true;
      });
}

}  // namespace

void read_scopes(JsonPull* json, Scopes* scopes) {
  const auto read_all = [&] {
    if (!json->begin_array()) return;
    while (json->next_element() && !json->failed()) {
      Scope& scope = scopes->scopes.emplace_back();
      read_scope(json, &scope);
      if (scope.parent >= scopes->scopes.size()) json->fail("a scope stands before the one around it");
    }
  };
  const auto read_marks = [&] {
    if (!json->begin_array()) return;
    while (json->next_element() && !json->failed()) read_mark(json, &scopes->marks.emplace_back());
  };
  MemberReader(json, {{"lost_count", [&] { json->read_unsigned(&scopes->lost); }},
                      {"lost_names_count", [&] { json->read_unsigned(&scopes->lost_names); }},
                      {"unmatched_ends_count", [&] { json->read_unsigned(&scopes->unmatched_ends); }},
                      {"nvtx_left_count", [&] { json->read_unsigned(&scopes->nvtx_left); }},
                      {"scopes", read_all},
                      {"lost_marks_count", [&] { json->read_unsigned(&scopes->lost_marks); }},
                      {"marks", read_marks}})
      .read();
}

}  // namespace heapprof::cli
