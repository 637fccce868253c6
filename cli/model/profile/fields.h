// cli/model/profile/fields.h: the names of fields in the file. Writer and reader both use them, so each name is in one
// place.
//
// A visitor is called once per field, visit(name, field): the writer passes a constant object and reads its fields, the
// reader fills them. To add a field of a run to the file, add a line here (and one in man/heapprof-format.5).
//
// Guarantees
//  - Numbers are integers; their names end in _bytes, _ns or _count where they are quantities.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/model/profile/scope_fields.h"

#include <optional>
#include <string_view>

namespace heapprof::cli {

std::string_view holder_kind_name(HolderKind kind);
std::optional<HolderKind> parse_holder_kind(std::string_view name);
std::string_view end_kind_name(EndKind kind);
std::optional<EndKind> parse_end_kind(std::string_view name);
std::string_view dialect_name(Dialect dialect);
std::optional<Dialect> parse_dialect(std::string_view name);

// `Run` is RunInfo or const RunInfo; the other template parameters are likewise.
template <typename Run, typename Visit>
void visit_run(Run& run, Visit&& visit) {
  visit("command", run.command);
  visit("title", run.title);
  visit("executable", run.executable);
  visit("pid", run.pid);
  visit("parent_pid", run.parent_pid);
  visit("image", run.image);
  visit("is_fork", run.is_fork);
  visit("is_attached", run.is_attached);
  visit("start_unix_ns", run.start_unix_ns);
  visit("duration_ns", run.duration_ns);
  visit("end", run.end.kind);
  visit("status", run.end.status);
  visit("complete", run.complete);
  visit("incomplete_reason", run.incomplete_reason);
  visit("other_threads_count", run.other_threads_count);
}

template <typename Sampled, typename Visit>
void visit_sampling(Sampled& sampling, Visit&& visit) {
  visit("interval_bytes", sampling.interval_bytes);
  visit("chosen_count", sampling.chosen);
  visit("counted_count", sampling.counted);
  visit("counted_bytes", sampling.counted_bytes);
  visit("unrecorded_ns", sampling.unrecorded_ns);
}

template <typename Judgement, typename Visit>
void visit_leak_check(Judgement& judgement, Visit&& visit) {
  visit("made", judgement.is_made);
  visit("reason", judgement.reason);
  visit("searched_bytes", judgement.searched_bytes);
  visit("unread_bytes", judgement.unread_bytes);
  visit("stopped_threads_count", judgement.stopped_threads);
  visit("duration_ns", judgement.duration_ns);
}

template <typename Machine, typename Visit>
void visit_machine(Machine& machine, Visit&& visit) {
  visit("cpu", machine.cpu);
  visit("cores_count", machine.cores);
  visit("memory_bytes", machine.memory_bytes);
  visit("kernel", machine.kernel);
  visit("libc", machine.libc);
}

template <typename Coverage, typename Visit>
void visit_coverage(Coverage& coverage, Visit&& visit) {
  visit("agent_version", coverage.agent_version);
  visit("allocator", coverage.allocator);
  visit("new_recorded", coverage.new_recorded);
  visit("clock", coverage.clock);
  visit("unwinder", coverage.unwinder);
  visit("self_test_failures", coverage.self_test_failures);
  visit("bypassing_modules", coverage.bypassing_modules);
  visit("unknown_functions", coverage.unknown_functions);
  visit("unread_modules", coverage.unread_modules);
  visit("unread_interpreters", coverage.unread_interpreters);
  visit("unrecorded_objects", coverage.unrecorded_objects);
  visit("unrecorded_operators", coverage.unrecorded_operators);
  visit("inner_allocators", coverage.inner_allocators);
  visit("unhooked_allocators", coverage.unhooked_allocators);
}

template <typename Program, typename Visit>
void visit_unprofiled_program(Program& program, Visit&& visit) {
  visit("path", program.path);
  visit("reason", program.reason);
  visit("starts_count", program.count);
  visit("replaced_process", program.replaced_process);
}

template <typename Counters, typename Visit>
void visit_counters(Counters& counters, Visit&& visit) {
#define RUN_COUNTER(member, key, ...) visit(key, counters.member);
#include "cli/model/profile/run_counters.def"
#undef RUN_COUNTER
}

template <typename Counters, typename Visit>
void visit_unwinder(Counters& counters, Visit&& visit) {
#define UNWINDER_COUNTER(member, key, ...) visit(key, counters.member);
#include "cli/model/profile/run_counters.def"
#undef UNWINDER_COUNTER
}

template <typename Cost, typename Visit>
void visit_cost(Cost& cost, Visit&& visit) {
#define RUN_COST(member, key, ...) visit(key, cost.member);
#include "cli/model/profile/run_counters.def"
#undef RUN_COST
}

template <typename Thread, typename Visit>
void visit_thread(Thread& thread, Visit&& visit) {
  visit("id", thread.id);
  visit("name", thread.name);
  visit("allocations_count", thread.allocations);
  visit("total_bytes", thread.total_bytes);
  visit("frees_count", thread.frees);
}

template <typename Process, typename Visit>
void visit_other_process(Process& process, Visit&& visit) {
  visit("pid", process.pid);
  visit("parent_pid", process.parent_pid);
  visit("image", process.image);
  visit("command", process.command);
  visit("title", process.title);
  visit("file", process.file);
  visit("memory_peak_bytes", process.memory_peak_bytes);
  visit("rss_max_bytes", process.resident_max_bytes);
}

template <typename Module, typename Visit>
void visit_module(Module& module, Visit&& visit) {
  visit("path", module.path);
  visit("build_id", module.build_id);
}

// Only for a process that has a rank.
template <typename AnyJob, typename Visit>
void visit_job(AnyJob& job, Visit&& visit) {
  visit("launcher", job.launcher);
  visit("rank", job.rank);
  visit("ranks_count", job.ranks);
  visit("local_rank", job.local_rank);
  visit("host", job.host);
  visit("local_device", job.local_device);
  visit("is_child", job.is_child);
}

template <typename Part, typename Visit>
void visit_merged_part(Part& part, Visit&& visit) {
  visit("input", part.input);
  visit("file", part.file);
  visit("command", part.command);
  visit("pid", part.pid);
  visit("image", part.image);
  visit("start_unix_ns", part.start_unix_ns);
  visit("end", part.end.kind);
  visit("status", part.end.status);
  visit("duration_ns", part.duration_ns);
  visit("complete", part.complete);
  visit("device", part.device);
  visit("peak_bytes", part.peak_bytes);
  visit("peak_ns", part.peak_ns);
  visit("leaked_bytes", part.leaked_bytes);
  visit("total_bytes", part.total_bytes);
  visit("total_count", part.total_blocks);
}

template <typename Row, typename Visit>
void visit_part_row(Row& row, Visit&& visit) {
  visit("place", row.text);
  visit("peak_bytes", row.peak_bytes);
}

template <typename Identity, typename Visit>
void visit_identity(Identity& identity, Visit&& visit) {
  visit("uuid", identity.uuid);
  visit("pci_id", identity.pci_id);
  visit("product", identity.product);
  visit("memory_bytes", identity.memory_bytes);
}

template <typename Held, typename Visit>
void visit_held(Held& held, Visit&& visit) {
  visit("pools_bytes", held.pools_bytes);
  visit("pools_peak_bytes", held.pools_peak_bytes);
  visit("pools_used_bytes", held.pools_used_bytes);
  visit("pools_used_peak_bytes", held.pools_used_peak_bytes);
  visit("pools_idle_peak_bytes", held.pools_idle_peak_bytes);
  visit("graphs_bytes", held.graphs_bytes);
  visit("graphs_peak_bytes", held.graphs_peak_bytes);
  visit("graphs_used_bytes", held.graphs_used_bytes);
  visit("graphs_used_peak_bytes", held.graphs_used_peak_bytes);
  visit("is_partial", held.is_partial);
}

template <typename Use, typename Visit>
void visit_use(Use& use, Visit&& visit) {
  visit("samples_count", use.samples);
  visit("max_bytes", use.max_bytes);
  visit("seen_at_max_bytes", use.seen_at_max_bytes);
  visit("is_of_all", use.is_of_all);
  visit("missing", use.missing);
}

template <typename Refusal, typename Visit>
void visit_refusal(Refusal& refusal, Visit&& visit) {
  visit("refused_count", refusal.count);
  visit("by_limit_count", refusal.by_limit_count);
  visit("first_ns", refusal.first_ns);
  visit("last_ns", refusal.last_ns);
  visit("size_bytes", refusal.size_bytes);
  visit("free_bytes", refusal.free_bytes);
  visit("live_bytes", refusal.live_bytes);
  visit("live_count", refusal.live_blocks);
}

template <typename Owners, typename Visit>
void visit_lost_owners(Owners& owners, Visit&& visit) {
  visit("is_cycle", owners.is_cycle);
  visit("owners_count", owners.owners);
  visit("lost_bytes", owners.bytes);
  visit("lost_count", owners.blocks);
}

template <typename AnyHolder, typename Visit>
void visit_holder(AnyHolder& holder, Visit&& visit) {
  visit("kind", holder.kind);
  visit("is_shared", holder.is_shared);
  visit("names", holder.names);
  visit("module", holder.module);
  visit("held_bytes", holder.bytes);
  visit("held_count", holder.blocks);
}

template <typename AnyFragmentation, typename Visit>
void visit_fragmentation(AnyFragmentation& it, Visit&& visit) {
  visit("from_ns", it.from_ns);
  visit("seen_ns", it.seen_ns);
  visit("resident_bytes", it.resident_bytes);
  visit("empty_bytes", it.empty_bytes);
  visit("empty_pieces_count", it.empty_pieces);
  visit("sparse_bytes", it.sparse_bytes);
}

template <typename AnyUntouched, typename Visit>
void visit_untouched(AnyUntouched& it, Visit&& visit) {
  visit("seen_ns", it.seen_ns);
  visit("untouched_bytes", it.untouched_bytes);
  visit("large_bytes", it.bytes);
}

template <typename Part, typename Visit>
void visit_untouched_part(Part& part, Visit&& visit) {
  visit("untouched_bytes", part.untouched_bytes);
  visit("large_bytes", part.bytes);
  visit("large_count", part.blocks);
}

template <typename Part, typename Visit>
void visit_owner_part(Part& part, Visit&& visit) {
  visit("owner_bytes", part.bytes);
  visit("owner_blocks_count", part.blocks);
}

template <typename Named, typename Visit>
void visit_named(Named& named, Visit&& visit) {
  visit("category", named.category);
  visit("name", named.name);
  visit("total_bytes", named.total_bytes);
  visit("total_count", named.total_blocks);
  visit("max_bytes", named.max_bytes);
  visit("max_count", named.max_blocks);
  visit("leaked_bytes", named.leaked_bytes);
  visit("leaked_count", named.leaked_blocks);
}

template <typename NamedSite, typename Visit>
void visit_named_site(NamedSite& site, Visit&& visit) {
  visit("total_bytes", site.total_bytes);
  visit("total_count", site.total_blocks);
  visit("leaked_bytes", site.leaked_bytes);
  visit("leaked_count", site.leaked_blocks);
}

template <typename LiveSite, typename Visit>
void visit_live_site(LiveSite& live_site, Visit&& visit) {
  visit("live_bytes", live_site.live_bytes);
  visit("live_count", live_site.live_blocks);
}

template <typename Segment, typename Visit>
void visit_segment(Segment& segment, Visit&& visit) {
  visit("size_bytes", segment.size_bytes);
  visit("allocated_bytes", segment.allocated_bytes);
  visit("gaps_count", segment.gaps);
  visit("largest_gap_bytes", segment.largest_gap_bytes);
}

template <typename Moment, typename Visit>
void visit_segments_moment(Moment& moment, Visit&& visit) {
  visit("at_ns", moment.at_ns);
  visit("reserved_bytes", moment.reserved_bytes);
  visit("allocated_bytes", moment.allocated_bytes);
  visit("elsewhere_bytes", moment.elsewhere_bytes);
  visit("segments_count", moment.segments_count);
  visit("empty_count", moment.empty_count);
  visit("empty_bytes", moment.empty_bytes);
  visit("largest_gap_bytes", moment.largest_gap_bytes);
}

template <typename Unseen, typename Visit>
void visit_unseen(Unseen& unseen, Visit&& visit) {
  visit("runtime_bytes", unseen.runtime_bytes);
  visit("runtime_count", unseen.runtime_blocks);
}

template <typename Estimate, typename Visit>
void visit_estimate(Estimate& estimate, Visit&& visit) {
  visit("what", estimate.what);
  visit("estimates_count", estimate.count);
  visit("size_bytes", estimate.size_bytes);
  visit("bound_count", estimate.bound_count);
}

template <typename Call, typename Visit>
void visit_api_call(Call& call, Visit&& visit) {
  visit("call", call.call);
  visit("calls_count", call.count);
  visit("duration_ns", call.duration_ns);
  visit("size_bytes", call.size_bytes);
}

template <typename Thread, typename Visit>
void visit_api_thread(Thread& thread, Visit&& visit) {
  visit("call", thread.call);
  visit("thread", thread.thread);
  visit("calls_count", thread.count);
  visit("duration_ns", thread.duration_ns);
}

template <typename Snapshots, typename Visit>
void visit_snapshots(Snapshots& snapshots, Visit&& visit) {
  visit("interval_ns", snapshots.interval_ns);
  visit("kept_interval_ns", snapshots.kept_interval_ns);
  visit("thinned_count", snapshots.thinned);
  visit("late_count", snapshots.late);
  visit("lost_count", snapshots.lost);
}

template <typename Snapshot, typename Visit>
void visit_snapshot(Snapshot& snapshot, Visit&& visit) {
  visit("at_ns", snapshot.at_ns);
  visit("is_mark", snapshot.is_mark);
  visit("category", snapshot.category);
  visit("name", snapshot.name);
  visit("thread", snapshot.thread);
}

template <typename Device, typename Visit>
void visit_snapshot_device(Device& device, Visit&& visit) {
  visit("device", device.device);
  visit("live_bytes", device.live_bytes);
  visit("live_count", device.live_blocks);
}

template <typename Block, typename Visit>
void visit_large_block(Block& block, Visit&& visit) {
  visit("size_bytes", block.size_bytes);
  visit("born_ns", block.born_ns);
}

template <typename Site, typename Visit>
void visit_tensor_site(Site& site, Visit&& visit) {
  visit("role", site.role);
  visit("live_bytes", site.live_bytes);
  visit("live_count", site.live_blocks);
}

template <typename Tensor, typename Visit>
void visit_large_tensor(Tensor& tensor, Visit&& visit) {
  visit_large_block(tensor, visit);
  visit("role", tensor.role);
  visit("name", tensor.name);
}

template <typename Totals, typename Visit>
void visit_totals(Totals& totals, Visit&& visit) {
  visit("total_bytes", totals.total_bytes);
  visit("total_count", totals.total_blocks);
  visit("peak_bytes", totals.peak_bytes);
  visit("peak_count", totals.peak_blocks);
  visit("peak_ns", totals.peak_ns);
  visit("max_count", totals.max_blocks);
  visit("max_count_ns", totals.max_blocks_ns);
  visit("leaked_bytes", totals.leaked_bytes);
  visit("leaked_count", totals.leaked_blocks);
  visit("temporary_count", totals.temporary_blocks);
  visit("rss_at_peak_bytes", totals.resident_at_peak_bytes);
  visit("rss_max_bytes", totals.resident_max_bytes);
  visit("live_at_rss_max_bytes", totals.live_at_resident_max_bytes);
  visit("mapped_at_rss_max_bytes", totals.mapped_at_resident_max_bytes);
}

}  // namespace heapprof::cli
