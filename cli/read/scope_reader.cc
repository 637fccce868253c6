// cli/read/scope_reader.cc: an object's fields are those of cli/model/profile/fields.h; its lists are read separately.
#include "cli/read/extension_parts.h"
#include "cli/read/field_reader.h"

#include <algorithm>
#include <array>
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

void read_growth(JsonPull* json, std::vector<int64_t>* numbers) {
  if (!json->begin_array()) return;
  int64_t value = 0;
  while (json->next_element() && json->read_signed(&value)) numbers->push_back(value);
}

struct InstanceColumns {
  std::vector<uint64_t> begin_ns, end_ns, active_ns, threads, flags;
  std::vector<int64_t> growth_bytes;
};

// Every column has a number for each instance; an optional one may also be empty.
bool have_one_length(const InstanceColumns& columns, const std::vector<InstanceMemory>& memory) {
  const size_t count = columns.begin_ns.size();
  const auto is_whole = [count](const auto& column) { return column.size() == count; };
  const auto is_optional = [&](const auto& column) { return column.empty() || is_whole(column); };
  bool are_whole = is_whole(columns.end_ns) && is_whole(columns.threads) && is_whole(columns.growth_bytes) &&
                   is_optional(columns.active_ns) && is_optional(columns.flags);
  for (const InstanceMemory& device : memory)
    are_whole = are_whole && is_whole(device.before_bytes) && is_whole(device.after_bytes);
  return are_whole;
}

void fill_instances(JsonPull* json, const InstanceColumns& columns, Scope* scope) {
  if (!have_one_length(columns, scope->instance_memory))
    return static_cast<void>(json->fail("the columns of a scope's instances are of several lengths"));
  for (size_t i = 0; i < columns.begin_ns.size(); ++i) {
    ScopeInstance& instance = scope->instances.emplace_back();
    instance.begin_ns = columns.begin_ns[i];
    instance.end_ns = columns.end_ns[i];
    if (instance.end_ns < instance.begin_ns || (i != 0 && instance.begin_ns < columns.begin_ns[i - 1]))
      return static_cast<void>(json->fail("a scope's instances are not in order"));
    instance.active_ns = instance.end_ns - instance.begin_ns;
    if (!columns.active_ns.empty()) {
      if (columns.active_ns[i] > instance.active_ns)
        return static_cast<void>(json->fail("an instance was active beyond its end"));
      instance.active_ns = columns.active_ns[i];
    }
    instance.growth_bytes = columns.growth_bytes[i];
    const uint64_t flags = columns.flags.empty() ? 0 : columns.flags[i];
    if (columns.threads[i] > UINT32_MAX || flags > UINT32_MAX)
      return static_cast<void>(json->fail("a number of a scope's instances is too large"));
    instance.thread = static_cast<uint32_t>(columns.threads[i]);
    instance.flags = static_cast<uint32_t>(flags) & kInstanceFlags;  // a later version may have others
  }
}

void read_instances(JsonPull* json, Scope* scope) {
  InstanceColumns columns;
  const auto read_device = [&] {
    InstanceMemory& memory = scope->instance_memory.emplace_back();
    MemberReader(json, {{"device", [&] { read_text(json, &memory.device); }},
                        {"live_before_bytes", [&] { read_numbers(json, &memory.before_bytes); }},
                        {"live_after_bytes", [&] { read_numbers(json, &memory.after_bytes); }}})
        .read();
  };
  const auto read_memory = [&] {
    if (!json->begin_array()) return;
    while (json->next_element() && !json->failed()) read_device();
  };
  MemberReader(json, {{"begin_ns", [&] { read_numbers(json, &columns.begin_ns); }},
                      {"end_ns", [&] { read_numbers(json, &columns.end_ns); }},
                      {"active_ns", [&] { read_numbers(json, &columns.active_ns); }},
                      {"thread", [&] { read_numbers(json, &columns.threads); }},
                      {"growth_bytes", [&] { read_growth(json, &columns.growth_bytes); }},
                      {"flags", [&] { read_numbers(json, &columns.flags); }},
                      {"memory", read_memory}})
      .read();
  if (!json->failed()) fill_instances(json, columns, scope);
}

void read_shape(JsonPull* json, std::array<uint64_t, 3>* sizes) {
  std::vector<uint64_t> numbers;
  read_numbers(json, &numbers);
  if (numbers.size() != sizes->size()) {
    json->fail("the shape of a launch is not three numbers");
    return;
  }
  std::copy(numbers.begin(), numbers.end(), sizes->begin());
}

// False: `key` is not a member of launches.
bool read_launches_member(JsonPull* json, const std::string& key, Launches* launches) {
  if (key == "kernels" && launches->kernels.empty()) {
    if (!json->begin_array()) return true;
    while (json->next_element() && !json->failed()) {
      KernelLaunches& kernel = launches->kernels.emplace_back();
      read_object(
          json, [&kernel](FieldReader& reader) { visit_kernel_launches(kernel, reader); },
          [&](const std::string& member) {
            if (member != "grid" && member != "block") return false;
            read_shape(json, member == "grid" ? &kernel.grid : &kernel.block);
            return true;
          });
    }
  } else if (key == "graphs" && launches->graphs.empty()) {
    read_structs(json, &launches->graphs,
                 [](GraphLaunches& graph, FieldReader& reader) { visit_graph_launches(graph, reader); });
  } else {
    return false;
  }
  return true;
}

void read_backward(JsonPull* json, std::vector<BackwardWork>* works) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) {
    BackwardWork& work = works->emplace_back();
    read_object(
        json, [&work](FieldReader& reader) { visit_backward_work(work, reader); },
        [&](const std::string& key) {
          if (key != "memory" || !work.memory.empty()) return false;
          read_structs(json, &work.memory,
                       [](ScopeMemory& memory, FieldReader& reader) { visit_scope_memory(memory, reader); });
          return true;
        });
    const size_t count = works->size();
    if (count > 1 && (*works)[count - 2].operator_path >= work.operator_path)
      json->fail("operators of backward work are not in order");
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
        } else if (key == "is_operator") {
          json->read_bool(&scope->is_operator);
        } else if (key == "backward_of" && scope->backward_of.empty()) {
          read_backward(json, &scope->backward_of);
        } else if (key == "instances" && scope->instances.empty() && scope->instance_memory.empty()) {
          read_instances(json, scope);
        } else if (key == "unkept_instances_count") {
          json->read_unsigned(&scope->unkept_instances);
        } else {
          if (key != "gpu") return read_launches_member(json, key, &scope->launches);
          read_struct(json, [scope](FieldReader& reader) { visit_gpu_time(scope->gpu, reader); });
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
                      {"outside",
                       [&] {
                         read_object(
                             json, [](FieldReader&) {},
                             [&](const std::string& key) { return read_launches_member(json, key, &scopes->outside); });
                       }},
                      {"gpu_time",
                       [&] { read_struct(json, [&](FieldReader& reader) { visit_gpu_times(scopes->gpu, reader); }); }},
                      {"lost_kernel_names_count", [&] { json->read_unsigned(&scopes->lost_kernel_names); }},
                      {"lost_marks_count", [&] { json->read_unsigned(&scopes->lost_marks); }},
                      {"marks", read_marks}})
      .read();
}

}  // namespace heapprof::cli
