// cli/write/encode/scopes_json.cc: a scope may have a hundred thousand single runs. Objects are easiest for scripts;
// columns take a fifth of the space, so profiles have columns.
#include "cli/write/encode/scopes_json.h"

#include "cli/write/encode/field_writer.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace heapprof::cli {

namespace {

void write_columns(const Scope& scope, JsonWriter* json) {
  const auto write_column = [json](const char* name, const auto& list, const auto& number_of) {
    json->key(name);
    json->begin_array();
    for (const auto& entry : list) {
      if constexpr (std::is_signed_v<decltype(number_of(entry))>) {
        json->signed_number(number_of(entry));
      } else {
        json->number(number_of(entry));
      }
    }
    json->end_array();
  };
  const auto is_any = [&scope](const auto& predicate) {
    return std::any_of(scope.instances.begin(), scope.instances.end(), predicate);
  };
  const auto write_live = [&](const InstanceMemory& memory) {
    const auto itself = [](uint64_t bytes) { return bytes; };
    json->text("device", memory.device);
    write_column("live_before_bytes", memory.before_bytes, itself);
    write_column("live_after_bytes", memory.after_bytes, itself);
  };
  const auto write_all = [&] {
    using Instance = ScopeInstance;
    write_column("begin_ns", scope.instances, [](const Instance& instance) { return instance.begin_ns; });
    write_column("end_ns", scope.instances, [](const Instance& instance) { return instance.end_ns; });
    if (is_any([](const Instance& instance) { return instance.active_ns != instance.end_ns - instance.begin_ns; }))
      write_column("active_ns", scope.instances, [](const Instance& instance) { return instance.active_ns; });
    write_column("thread", scope.instances, [](const Instance& instance) { return uint64_t{instance.thread}; });
    write_column("growth_bytes", scope.instances, [](const Instance& instance) { return instance.growth_bytes; });
    if (is_any([](const Instance& instance) { return instance.flags != 0; }))
      write_column("flags", scope.instances, [](const Instance& instance) { return uint64_t{instance.flags}; });
    write_structs("memory", scope.instance_memory, write_live, json);
  };
  write_struct("instances", write_all, json);
}

// A device without memory is left out.
void write_objects(const Scope& scope, JsonWriter* json) {
  const auto write_flag = [json](const char* name, bool value) {
    if (value) json->flag(name, true);
  };
  json->key("instances");
  json->begin_array();
  for (size_t i = 0; i < scope.instances.size(); ++i) {
    const ScopeInstance& instance = scope.instances[i];
    json->begin_object();
    json->count("begin_ns", instance.begin_ns);
    json->count("end_ns", instance.end_ns);
    json->count("active_ns", instance.active_ns);
    json->count("thread", instance.thread);
    json->key("growth_bytes");
    json->signed_number(instance.growth_bytes);
    write_flag("is_left_open", (instance.flags & kInstanceLeftOpen) != 0);
    write_flag("is_open_at_end", (instance.flags & kInstanceOpen) != 0);
    write_flag("was_left", (instance.flags & kInstanceLeft) != 0);
    write_flag("is_apart", (instance.flags & kInstanceApart) != 0);
    json->key("memory");
    json->begin_array();
    for (const InstanceMemory& memory : scope.instance_memory) {
      if (memory.before_bytes[i] == 0 && memory.after_bytes[i] == 0) continue;
      json->begin_object();
      json->text("device", memory.device);
      json->count("live_before_bytes", memory.before_bytes[i]);
      json->count("live_after_bytes", memory.after_bytes[i]);
      json->end_object();
    }
    json->end_array();
    json->end_object();
  }
  json->end_array();
  json->new_line();
}

}  // namespace

void write_scopes(const Scopes& scopes, InstanceLayout layout, JsonWriter* json) {
  const FieldWriter fields(json);
  const auto write_shape = [&](const char* key, const std::array<uint64_t, 3>& sizes) {
    json->key(key);
    json->begin_array();
    for (const uint64_t size : sizes) json->number(size);
    json->end_array();
  };
  const auto write_kernel = [&](const KernelLaunches& kernel) {
    visit_kernel_launches(kernel, fields);
    write_shape("grid", kernel.grid);
    write_shape("block", kernel.block);
  };
  const auto write_launches = [&](const Launches& launches) {
    if (!launches.kernels.empty()) write_structs("kernels", launches.kernels, write_kernel, json);
    if (!launches.graphs.empty())
      write_structs(
          "graphs", launches.graphs, [&](const GraphLaunches& graph) { visit_graph_launches(graph, fields); }, json);
  };
  const auto write_backward = [&](const BackwardWork& work) {
    visit_backward_work(work, fields);
    write_structs(
        "memory", work.memory, [&](const ScopeMemory& memory) { visit_scope_memory(memory, fields); }, json);
  };
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
    if (scope.is_operator) json->flag("is_operator", true);
    if (!scope.backward_of.empty()) write_structs("backward_of", scope.backward_of, write_backward, json);
    write_launches(scope.launches);
    if (scope.gpu.intervals != 0)
      write_struct(
          "gpu", [&] { visit_gpu_time(scope.gpu, fields); }, json);
    if (layout == InstanceLayout::kNone) return;
    if (scope.unkept_instances != 0) fields("unkept_instances_count", scope.unkept_instances);
    if (scope.instances.empty()) return;
    if (layout == InstanceLayout::kColumns) {
      write_columns(scope, json);
    } else {
      write_objects(scope, json);
    }
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
    if (!scopes.outside.empty())
      write_struct(
          "outside", [&] { write_launches(scopes.outside); }, json);
    if (!scopes.gpu.mode.empty())
      write_struct(
          "gpu_time", [&] { visit_gpu_times(scopes.gpu, fields); }, json);
    if (scopes.lost_kernel_names != 0) fields("lost_kernel_names_count", scopes.lost_kernel_names);
    if (scopes.lost_marks != 0) fields("lost_marks_count", scopes.lost_marks);
    if (!scopes.marks.empty()) write_structs("marks", scopes.marks, write_mark, json);
  };
  write_struct("scopes", write_all, json);
}

}  // namespace heapprof::cli
