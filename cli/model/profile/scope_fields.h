// cli/model/profile/scope_fields.h: the names of the fields of scopes, launches and marks, as in fields.h.
#pragma once

namespace heapprof::cli {

template <typename Scope, typename Visit>
void visit_scope(Scope& scope, Visit&& visit) {
  visit("parent", scope.parent);
  visit("category", scope.category);
  visit("name", scope.name);
  visit("begun_count", scope.begun);
  visit("ended_count", scope.ended);
  visit("left_open_count", scope.left_open);
  visit("time_ns", scope.time_ns);
  visit("own_time_ns", scope.own_time_ns);
  visit("shortest_ns", scope.shortest_ns);
  visit("longest_ns", scope.longest_ns);
  visit("items_count", scope.items);
  visit("kernel_launches_count", scope.kernel_launches);
}

template <typename Memory, typename Visit>
void visit_scope_memory(Memory& memory, Visit&& visit) {
  visit("device", memory.device);
  visit("allocated_bytes", memory.allocated_bytes);
  visit("allocated_count", memory.allocated_blocks);
  visit("freed_bytes", memory.freed_bytes);
  visit("freed_count", memory.freed_blocks);
  visit("peak_inside_bytes", memory.peak_inside_bytes);
}

// The work's memory is written next to these fields.
template <typename Work, typename Visit>
void visit_backward_work(Work& work, Visit&& visit) {
  visit("operator", work.operator_path);
  visit("begun_count", work.begun);
  visit("time_ns", work.time_ns);
}

template <typename Call, typename Visit>
void visit_scope_call(Call& call, Visit&& visit) {
  visit("call", call.call);
  visit("calls_count", call.count);
  visit("duration_ns", call.duration_ns);
  visit("size_bytes", call.size_bytes);
}

// The kernel's shape, two lists of three numbers, is written next to these fields.
template <typename Kernel, typename Visit>
void visit_kernel_launches(Kernel& kernel, Visit&& visit) {
  visit("name", kernel.name);
  visit("shared_bytes", kernel.shared_bytes);
  visit("launches_count", kernel.count);
}

template <typename Time, typename Visit>
void visit_gpu_time(Time& time, Visit&& visit) {
  visit("time_ns", time.time_ns);
  visit("intervals_count", time.intervals);
}

template <typename Times, typename Visit>
void visit_gpu_times(Times& times, Visit&& visit) {
  visit("mode", times.mode);
  visit("outside_ns", times.outside.time_ns);
  visit("outside_intervals_count", times.outside.intervals);
  visit("unread_intervals_count", times.unread);
  visit("captured_launches_count", times.captured);
  visit("untimed_launches_count", times.untimed);
  visit("waits_count", times.waits);
  visit("waits_ns", times.waits_ns);
}

template <typename Graph, typename Visit>
void visit_graph_launches(Graph& graph, Visit&& visit) {
  visit("is_known", graph.is_known);
  visit("kernels_count", graph.kernels);
  visit("launches_count", graph.count);
}

template <typename Mark, typename Visit>
void visit_mark(Mark& mark, Visit&& visit) {
  visit("category", mark.category);
  visit("name", mark.name);
  visit("at_ns", mark.at_ns);
  visit("thread", mark.thread);
}

template <typename Memory, typename Visit>
void visit_marked_memory(Memory& memory, Visit&& visit) {
  visit("device", memory.device);
  visit("live_bytes", memory.live_bytes);
  visit("live_count", memory.live_blocks);
}

}  // namespace heapprof::cli
