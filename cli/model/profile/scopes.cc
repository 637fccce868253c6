// cli/model/profile/scopes.cc: merges two lists of scopes by their paths.
#include "cli/model/profile/scopes.h"

#include "cli/base/saturating.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heapprof::cli {
namespace {

void add_call(const ScopeCall& from, std::vector<ScopeCall>* into) {
  const auto at = std::lower_bound(into->begin(), into->end(), from,
                                   [](const ScopeCall& a, const ScopeCall& b) { return a.call < b.call; });
  if (at == into->end() || at->call != from.call) {
    into->insert(at, from);
    return;
  }
  add_to(&at->count, from.count);
  add_to(&at->duration_ns, from.duration_ns);
  add_to(&at->size_bytes, from.size_bytes);
}

void add_backward(const BackwardWork& from, std::vector<BackwardWork>* into) {
  const auto at = std::lower_bound(into->begin(), into->end(), from, [](const BackwardWork& a, const BackwardWork& b) {
    return a.operator_path < b.operator_path;
  });
  if (at == into->end() || at->operator_path != from.operator_path) {
    into->insert(at, from);
    return;
  }
  add_to(&at->begun, from.begun);
  add_to(&at->time_ns, from.time_ns);
  for (const ScopeMemory& memory : from.memory) add_scope_memory(memory, &at->memory);
}

std::vector<uint64_t> sum_of_durations(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  std::map<uint64_t, uint64_t> counts;
  for (const auto* durations : {&a, &b}) {
    for (size_t i = 0; i + 1 < durations->size(); i += 2) add_to(&counts[(*durations)[i]], (*durations)[i + 1]);
  }
  std::vector<uint64_t> sum;
  for (const auto& [bucket, count] : counts) sum.insert(sum.end(), {bucket, count});
  return sum;
}

// If a device is missing in one of the two, that one had no memory on it.
void add_instances(const Scope& from, Scope* into) {
  const size_t had = into->instances.size();
  const size_t count = had + from.instances.size();
  for (const InstanceMemory& memory : from.instance_memory) {
    const auto is_same = [&memory](const InstanceMemory& other) { return other.device == memory.device; };
    auto at = std::find_if(into->instance_memory.begin(), into->instance_memory.end(), is_same);
    if (at == into->instance_memory.end())
      at = into->instance_memory.insert(at, {memory.device, std::vector<uint64_t>(had), std::vector<uint64_t>(had)});
    at->before_bytes.insert(at->before_bytes.end(), memory.before_bytes.begin(), memory.before_bytes.end());
    at->after_bytes.insert(at->after_bytes.end(), memory.after_bytes.begin(), memory.after_bytes.end());
  }
  for (InstanceMemory& memory : into->instance_memory) {
    memory.before_bytes.resize(count);
    memory.after_bytes.resize(count);
  }
  into->instances.insert(into->instances.end(), from.instances.begin(), from.instances.end());
  add_to(&into->unkept_instances, from.unkept_instances);
}

void sort_instances(Scope* scope) {
  const auto is_before = [](const ScopeInstance& a, const ScopeInstance& b) {
    return std::tie(a.begin_ns, a.end_ns, a.thread) < std::tie(b.begin_ns, b.end_ns, b.thread);
  };
  if (std::is_sorted(scope->instances.begin(), scope->instances.end(), is_before)) return;
  std::vector<size_t> order(scope->instances.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return is_before(scope->instances[a], scope->instances[b]); });
  const auto reorder = [&order](auto* list) {
    std::remove_pointer_t<decltype(list)> sorted;
    for (const size_t i : order) sorted.push_back((*list)[i]);
    *list = std::move(sorted);
  };
  reorder(&scope->instances);
  for (InstanceMemory& memory : scope->instance_memory) {
    reorder(&memory.before_bytes);
    reorder(&memory.after_bytes);
  }
}

// pre: both have the same parent and name
void add_scope(Scope&& from, Scope* into) {
  if (into->ended == 0 || (from.ended != 0 && from.shortest_ns < into->shortest_ns))
    into->shortest_ns = from.shortest_ns;
  into->longest_ns = std::max(into->longest_ns, from.longest_ns);
  add_to(&into->begun, from.begun);
  add_to(&into->ended, from.ended);
  add_to(&into->left_open, from.left_open);
  add_to(&into->time_ns, from.time_ns);
  add_to(&into->own_time_ns, from.own_time_ns);
  add_to(&into->items, from.items);
  add_to(&into->kernel_launches, from.kernel_launches);
  into->durations = sum_of_durations(into->durations, from.durations);
  for (const ScopeMemory& memory : from.memory) add_scope_memory(memory, &into->memory);
  for (const ScopeCall& call : from.calls) add_call(call, &into->calls);
  for (const BackwardWork& work : from.backward_of) add_backward(work, &into->backward_of);
  into->is_operator = into->is_operator || from.is_operator;
  add_instances(from, into);
  add_launches(from.launches, &into->launches);
  add_gpu_time(from.gpu, &into->gpu);
}

}  // namespace

void add_scope_memory(const ScopeMemory& from, std::vector<ScopeMemory>* into) {
  const auto is_same = [&from](const ScopeMemory& memory) { return memory.device == from.device; };
  const auto found = std::find_if(into->begin(), into->end(), is_same);
  if (found == into->end()) {
    into->push_back(from);
    return;
  }
  add_to(&found->allocated_bytes, from.allocated_bytes);
  add_to(&found->allocated_blocks, from.allocated_blocks);
  add_to(&found->freed_bytes, from.freed_bytes);
  add_to(&found->freed_blocks, from.freed_blocks);
  found->peak_inside_bytes = std::max(found->peak_inside_bytes, from.peak_inside_bytes);
}

uint64_t percentile_ns(const Scope& scope, unsigned percent) {
  uint64_t all = 0;
  for (size_t i = 1; i < scope.durations.size(); i += 2) add_to(&all, scope.durations[i]);
  uint64_t below = 0;
  for (size_t i = 0; i + 1 < scope.durations.size(); i += 2) {
    add_to(&below, scope.durations[i + 1]);
    if (static_cast<double>(below) < static_cast<double>(all) * percent / 100) continue;
    const auto bucket = static_cast<uint32_t>(std::min<uint64_t>(scope.durations[i], kDurationBuckets - 1));
    const uint64_t low_ns = bucket_duration(bucket);
    const uint64_t high_ns = bucket + 1 == kDurationBuckets ? UINT64_MAX : bucket_duration(bucket + 1) - 1;
    return std::clamp(low_ns + (high_ns - low_ns) / 2, std::min(scope.shortest_ns, scope.longest_ns), scope.longest_ns);
  }
  return 0;
}

std::vector<std::vector<ScopeMemory>> memory_with_inner(const Scopes& scopes) {
  std::vector<std::vector<ScopeMemory>> sums;
  sums.reserve(scopes.scopes.size());
  for (const Scope& scope : scopes.scopes) sums.push_back(scope.memory);
  for (size_t i = sums.size(); i-- > 0;) {  // a scope comes after its parent, so sums[i] is complete here
    const uint32_t parent = scopes.scopes[i].parent;
    if (parent == 0) continue;
    for (ScopeMemory memory : sums[i]) {
      memory.peak_inside_bytes = 0;
      add_scope_memory(memory, &sums[parent - 1]);
    }
  }
  return sums;
}

std::vector<std::vector<ScopeCall>> calls_with_inner(const Scopes& scopes) {
  std::vector<std::vector<ScopeCall>> sums(scopes.scopes.size());
  for (size_t i = sums.size(); i-- > 0;) {
    for (const ScopeCall& call : scopes.scopes[i].calls) add_call(call, &sums[i]);
    const uint32_t parent = scopes.scopes[i].parent;
    if (parent == 0) continue;
    for (const ScopeCall& call : sums[i]) add_call(call, &sums[parent - 1]);
  }
  return sums;
}

std::vector<uint64_t> launches_with_inner(const Scopes& scopes) {
  std::vector<uint64_t> sums(scopes.scopes.size());
  for (size_t i = sums.size(); i-- > 0;) {
    add_to(&sums[i], scopes.scopes[i].kernel_launches);
    if (const uint32_t parent = scopes.scopes[i].parent; parent != 0) add_to(&sums[parent - 1], sums[i]);
  }
  return sums;
}

std::vector<uint64_t> gpu_time_with_inner(const Scopes& scopes) {
  std::vector<uint64_t> sums(scopes.scopes.size());
  for (size_t i = sums.size(); i-- > 0;) {
    add_to(&sums[i], scopes.scopes[i].gpu.time_ns);
    if (const uint32_t parent = scopes.scopes[i].parent; parent != 0) add_to(&sums[parent - 1], sums[i]);
  }
  return sums;
}

void sort_scopes(Scopes* scopes) {
  // Walks the tree depth first, so that each scope comes after its parent. Scopes of one parent with equal names are
  // grouped by sorting.
  std::vector<Scope>& old = scopes->scopes;
  std::vector<std::vector<uint32_t>> inner(old.size() + 1);
  for (size_t i = 0; i < old.size(); ++i) inner[old[i].parent].push_back(static_cast<uint32_t>(i));
  std::vector<Scope> sorted;
  sorted.reserve(old.size());
  struct Waiting {
    std::vector<uint32_t> from;  // old scopes whose children come next
    uint32_t parent;             // their new index + 1
  };
  std::vector<Waiting> waiting = {{{}, 0}};
  bool is_outermost = true;
  while (!waiting.empty()) {
    const Waiting next = std::move(waiting.back());
    waiting.pop_back();
    std::vector<uint32_t> those;
    if (is_outermost) those = inner[0];
    for (const uint32_t from : next.from) those.insert(those.end(), inner[from + 1].begin(), inner[from + 1].end());
    is_outermost = false;
    const auto key = [&old](uint32_t i) { return std::tie(old[i].category, old[i].name); };
    std::stable_sort(those.begin(), those.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (size_t i = 0; i < those.size();) {
      Waiting group{{those[i]}, static_cast<uint32_t>(sorted.size() + 1)};
      Scope& first = old[those[i]];  // its name is needed again; its instances, which may be many, are moved
      std::vector<ScopeInstance> instances = std::move(first.instances);
      std::vector<InstanceMemory> instance_memory = std::move(first.instance_memory);
      sorted.push_back(first);
      sorted.back().parent = next.parent;
      sorted.back().instances = std::move(instances);
      sorted.back().instance_memory = std::move(instance_memory);
      size_t end = i + 1;
      for (; end < those.size() && key(those[end]) == key(those[i]); ++end) {
        group.from.push_back(those[end]);
        add_scope(Scope(old[those[end]]), &sorted.back());
      }
      i = end;
      waiting.push_back(std::move(group));
    }
  }
  old = std::move(sorted);
  for (Scope& scope : old) sort_instances(&scope);
}

void add_scopes(const Scopes& from, Scopes* into) {
  const auto offset = static_cast<uint32_t>(into->scopes.size());
  for (const Scope& scope : from.scopes) {
    into->scopes.push_back(scope);
    if (scope.parent != 0) into->scopes.back().parent += offset;
  }
  for (Scope& scope : into->scopes) {  // different runs have no common clock
    add_to(&scope.unkept_instances, scope.instances.size());
    scope.instances.clear();
    scope.instance_memory.clear();
  }
  sort_scopes(into);
  add_to(&into->lost, from.lost);
  add_to(&into->lost_names, from.lost_names);
  add_to(&into->unmatched_ends, from.unmatched_ends);
  add_to(&into->nvtx_left, from.nvtx_left);
  into->marks.insert(into->marks.end(), from.marks.begin(), from.marks.end());
  std::stable_sort(into->marks.begin(), into->marks.end(),
                   [](const Mark& a, const Mark& b) { return a.at_ns < b.at_ns; });
  add_to(&into->lost_marks, from.lost_marks);
  add_launches(from.outside, &into->outside);
  add_gpu_times(from.gpu, &into->gpu);
  add_to(&into->lost_kernel_names, from.lost_kernel_names);
}

}  // namespace heapprof::cli
