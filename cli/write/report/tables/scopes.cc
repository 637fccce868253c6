// cli/write/report/tables/scopes.cc: tables of the program's own scopes and marks. Each table names a scope by its
// path, and numbers it as in the table "scopes", so that tables can be joined.
#include "cli/model/analysis/critical_path.h"
#include "cli/model/analysis/operators.h"
#include "cli/model/analysis/scope_paths.h"
#include "cli/write/report/tables/tables.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

// A scope with one of its elements.
template <typename T>
struct OfScope {
  uint32_t scope = UINT32_MAX;
  T it = {};
};

template <typename T, typename Find>
std::vector<OfScope<T>> of_scopes(const Scopes& scopes, const Find& find) {
  std::vector<OfScope<T>> rows;
  for (uint32_t i = 0; i < scopes.scopes.size(); ++i) {
    for (const T& it : find(scopes.scopes[i])) rows.push_back({i, it});
  }
  return rows;
}

void add_scope(const Scopes& scopes, uint32_t index, const TableRow& row) {
  row("scope", index < scopes.scopes.size() ? std::optional<uint64_t>(index + 1) : std::nullopt);
  row("path", index < scopes.scopes.size() ? path_of_scope(scopes, index) : std::string());
}

// If there was no memory, the row has no device.
struct MemoryRow {
  size_t of = 0;
  ScopeMemory memory;
};
std::vector<MemoryRow> with_memory(size_t of, const std::vector<ScopeMemory>& all) {
  std::vector<MemoryRow> rows;
  for (const ScopeMemory& memory : all) rows.push_back({of, memory});
  if (rows.empty()) rows.push_back({of, {}});
  return rows;
}

void add_memory(const ScopeMemory& memory, const TableRow& row, const std::string& prefix) {
  row(prefix + "allocated_bytes", memory.allocated_bytes);
  row(prefix + "allocated_count", memory.allocated_blocks);
  row(prefix + "freed_bytes", memory.freed_bytes);
  row(prefix + "freed_count", memory.freed_blocks);
}

}  // namespace

void fill_scopes(const TableSource& source, CellTable* table) {
  const Scopes& scopes = source.profile.scopes;
  struct ScopeRow {
    uint32_t index = UINT32_MAX;
  };
  std::vector<ScopeRow> rows;
  for (uint32_t i = 0; i < scopes.scopes.size(); ++i) rows.push_back({i});
  table->add(rows, [&](const ScopeRow& it, const TableRow& row) {
    const Scope none;
    const Scope& scope = it.index < scopes.scopes.size() ? scopes.scopes[it.index] : none;
    add_scope(scopes, it.index, row);
    visit_scope(scope, row);
    row("p50_ns", percentile_ns(scope, 50));
    row("p99_ns", percentile_ns(scope, 99));
    row("gpu_time_ns", scope.gpu.time_ns);
    row("gpu_intervals_count", scope.gpu.intervals);
    row("is_operator", scope.is_operator);
    row("instances_count", uint64_t{scope.instances.size()});
    row("unkept_instances_count", scope.unkept_instances);
  });
}

void fill_scope_memory(const TableSource& source, CellTable* table) {
  const Scopes& scopes = source.profile.scopes;
  table->add(of_scopes<ScopeMemory>(scopes, [](const Scope& scope) { return scope.memory; }),
             [&](const OfScope<ScopeMemory>& it, const TableRow& row) {
               add_scope(scopes, it.scope, row);
               visit_scope_memory(it.it, row);
             });
}

void fill_scope_calls(const TableSource& source, CellTable* table) {
  const Scopes& scopes = source.profile.scopes;
  table->add(of_scopes<ScopeCall>(scopes, [](const Scope& scope) { return scope.calls; }),
             [&](const OfScope<ScopeCall>& it, const TableRow& row) {
               add_scope(scopes, it.scope, row);
               visit_scope_call(it.it, row);
             });
}

// Launches outside all scopes have no scope.
void fill_kernels(const TableSource& source, CellTable* table) {
  const Scopes& scopes = source.profile.scopes;
  std::vector<OfScope<KernelLaunches>> rows =
      of_scopes<KernelLaunches>(scopes, [](const Scope& scope) { return scope.launches.kernels; });
  for (const KernelLaunches& kernel : scopes.outside.kernels) rows.push_back({UINT32_MAX, kernel});
  table->add(rows, [&](const OfScope<KernelLaunches>& it, const TableRow& row) {
    add_scope(scopes, it.scope, row);
    visit_kernel_launches(it.it, row);
    for (const auto& [name, sizes] : {std::pair("grid_", &it.it.grid), std::pair("block_", &it.it.block)}) {
      for (size_t i = 0; i < 3; ++i) row(name + std::string(1, "xyz"[i]), (*sizes)[i]);
    }
  });
}

void fill_graphs(const TableSource& source, CellTable* table) {
  const Scopes& scopes = source.profile.scopes;
  std::vector<OfScope<GraphLaunches>> rows =
      of_scopes<GraphLaunches>(scopes, [](const Scope& scope) { return scope.launches.graphs; });
  for (const GraphLaunches& graph : scopes.outside.graphs) rows.push_back({UINT32_MAX, graph});
  table->add(rows, [&](const OfScope<GraphLaunches>& it, const TableRow& row) {
    add_scope(scopes, it.scope, row);
    visit_graph_launches(it.it, row);
  });
}

// The PyTorch operators for which a function of the backward pass worked; a row for each device on which it had memory.
void fill_backward(const TableSource& source, CellTable* table) {
  const Scopes& scopes = source.profile.scopes;
  struct BackwardRow {
    uint32_t scope = UINT32_MAX;
    BackwardWork work;
    ScopeMemory memory;
  };
  std::vector<BackwardRow> rows;
  for (uint32_t i = 0; i < scopes.scopes.size(); ++i) {
    for (const BackwardWork& work : scopes.scopes[i].backward_of) {
      for (const MemoryRow& it : with_memory(0, work.memory)) rows.push_back({i, work, it.memory});
    }
  }
  table->add(rows, [&](const BackwardRow& it, const TableRow& row) {
    add_scope(scopes, it.scope, row);
    visit_backward_work(it.work, row);
    row("device", it.memory.device);
    add_memory(it.memory, row, "");
  });
}

// A row for each run and device that had memory before or after it.
void fill_instances(const TableSource& source, CellTable* table) {
  const Scopes& scopes = source.profile.scopes;
  struct RunRow {
    uint32_t scope = UINT32_MAX;
    uint64_t number = 0;
    ScopeInstance run;
    std::string device;
    uint64_t before_bytes = 0;
    uint64_t after_bytes = 0;
  };
  std::vector<RunRow> rows;
  for (uint32_t i = 0; i < scopes.scopes.size(); ++i) {
    const Scope& scope = scopes.scopes[i];
    if (!source.view.instances.empty() && !is_scope_meant(scopes, i, source.view.instances)) continue;
    for (size_t at = 0; at < scope.instances.size(); ++at) {
      RunRow it{i, at + 1, scope.instances[at], "", 0, 0};
      bool has_memory = false;
      for (const InstanceMemory& memory : scope.instance_memory) {
        if (at >= memory.before_bytes.size() || at >= memory.after_bytes.size()) continue;
        if (memory.before_bytes[at] == 0 && memory.after_bytes[at] == 0) continue;
        has_memory = true;
        it.device = memory.device;
        it.before_bytes = memory.before_bytes[at];
        it.after_bytes = memory.after_bytes[at];
        rows.push_back(it);
      }
      if (!has_memory) rows.push_back(it);
    }
  }
  table->add(rows, [&](const RunRow& it, const TableRow& row) {
    add_scope(scopes, it.scope, row);
    row("instance", it.number);
    row("begin_ns", it.run.begin_ns);
    row("end_ns", it.run.end_ns);
    row("active_ns", it.run.active_ns);
    row("thread", it.run.thread);
    row("growth_bytes", it.run.growth_bytes);
    row("is_left_open", (it.run.flags & kInstanceLeftOpen) != 0);
    row("is_open_at_end", (it.run.flags & kInstanceOpen) != 0);
    row("was_left", (it.run.flags & kInstanceLeft) != 0);
    row("is_apart", (it.run.flags & kInstanceApart) != 0);
    row("device", it.device);
    row("live_before_bytes", it.before_bytes);
    row("live_after_bytes", it.after_bytes);
  });
}

void fill_marks(const TableSource& source, CellTable* table) {
  const std::vector<Mark>& marks = source.profile.scopes.marks;
  struct MarkRow {
    size_t at = SIZE_MAX;
    MarkedMemory memory;
  };
  std::vector<MarkRow> rows;
  for (size_t i = 0; i < marks.size(); ++i) {
    for (const MarkedMemory& memory : marks[i].memory) rows.push_back({i, memory});
    if (marks[i].memory.empty()) rows.push_back({i, {}});
  }
  table->add(rows, [&](const MarkRow& it, const TableRow& row) {
    const Mark none;
    row("mark", it.at < marks.size() ? uint64_t{it.at} + 1 : 0);
    visit_mark(it.at < marks.size() ? marks[it.at] : none, row);
    visit_marked_memory(it.memory, row);
  });
}

// A row for each operator and device.
void fill_operators(const TableSource& source, CellTable* table) {
  const std::vector<OperatorSum> sums = sum_operators(source.profile.scopes);
  struct OperatorRow {
    const OperatorSum* sum = nullptr;
    ScopeMemory own;
    ScopeMemory backward;
  };
  std::vector<OperatorRow> rows;
  for (const OperatorSum& sum : sums) {
    std::vector<OperatorRow> of_sum;
    const auto row_of = [&](const std::string& device) -> OperatorRow& {
      for (OperatorRow& row : of_sum) {
        if (row.own.device == device) return row;
      }
      OperatorRow& row = of_sum.emplace_back(OperatorRow{&sum, {}, {}});
      row.own.device = device;
      return row;
    };
    for (const ScopeMemory& memory : sum.memory) row_of(memory.device).own = memory;
    for (const ScopeMemory& memory : sum.backward_memory) row_of(memory.device).backward = memory;
    if (of_sum.empty()) of_sum.push_back({&sum, {}, {}});
    rows.insert(rows.end(), of_sum.begin(), of_sum.end());
  }
  table->add(rows, [](const OperatorRow& it, const TableRow& row) {
    const OperatorSum none;
    const OperatorSum& sum = it.sum == nullptr ? none : *it.sum;
    row("operator", sum.name);
    row("begun_count", sum.begun);
    row("own_time_ns", sum.own_time_ns);
    row("backward_begun_count", sum.backward_begun);
    row("backward_time_ns", sum.backward_time_ns);
    row("device", it.own.device);
    add_memory(it.own, row, "");
    add_memory(it.backward, row, "backward_");
  });
}

void fill_categories(const TableSource& source, CellTable* table) {
  const std::vector<CategorySum> sums = sum_categories(source.profile.scopes, source.view.categories);
  std::vector<MemoryRow> rows;
  for (size_t i = 0; i < sums.size(); ++i) {
    for (MemoryRow& row : with_memory(i, sums[i].memory)) rows.push_back(std::move(row));
  }
  table->add(rows, [&](const MemoryRow& it, const TableRow& row) {
    const CategorySum none;
    const CategorySum& sum = it.of < sums.size() ? sums[it.of] : none;
    row("category", sum.category);
    row("scopes_count", sum.scopes);
    row("own_time_ns", sum.own_time_ns);
    row("device", it.memory.device);
    add_memory(it.memory, row, "");
  });
}

void fill_critical_path(const TableSource& source, CellTable* table) {
  const CriticalPath path = find_critical_path(source.profile.scopes);
  table->add(path.path, [&](const PathRun& run, const TableRow& row) {
    const PathSum none;
    const PathSum& sum = run.of < path.sums.size() ? path.sums[run.of] : none;
    row("name", sum.name);
    row("is_mark", sum.is_mark);
    row("begin_ns", run.begin_ns);
    row("end_ns", run.end_ns);
    row("gap_ns", run.gap_ns);
    row("thread", run.thread);
  });
}

void fill_critical_scopes(const TableSource& source, CellTable* table) {
  table->add(find_critical_path(source.profile.scopes).sums, [](const PathSum& sum, const TableRow& row) {
    row("name", sum.name);
    row("is_mark", sum.is_mark);
    row("runs_count", sum.runs);
    row("on_path_count", sum.on_path);
    row("on_path_ns", sum.on_path_ns);
    row("least_slack_ns", sum.least_slack_ns);
  });
}

}  // namespace heapprof::cli
