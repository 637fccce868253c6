// cli/write/html/page_scopes.cc: runs of all scopes in one list, sorted by begin, as a chart draws them.
#include "cli/write/html/page_parts.h"

#include <algorithm>
#include <vector>

namespace heapprof::cli {
namespace {

struct Run {
  uint32_t scope = 0;
  const ScopeInstance* instance = nullptr;

  uint64_t length_ns() const { return instance->end_ns - instance->begin_ns; }
};

}  // namespace

PageColumns page_scopes(const Scopes& scopes, PageTexts* texts) {
  std::vector<Run> runs;
  uint64_t left_out = 0;
  for (uint32_t i = 0; i < scopes.scopes.size(); ++i) {
    for (const ScopeInstance& instance : scopes.scopes[i].instances) runs.push_back({i, &instance});
    left_out += scopes.scopes[i].unkept_instances;
  }
  if (runs.size() > kMostPageRuns) {
    std::stable_sort(runs.begin(), runs.end(),
                     [](const Run& a, const Run& b) { return a.length_ns() > b.length_ns(); });
    left_out += runs.size() - kMostPageRuns;
    runs.resize(kMostPageRuns);
  }
  // If several runs begin at the same time, the outer one comes first, as in the list of scopes.
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return a.instance->begin_ns != b.instance->begin_ns ? a.instance->begin_ns < b.instance->begin_ns
           : a.length_ns() != b.length_ns()             ? a.length_ns() > b.length_ns()
                                                        : a.scope < b.scope;
  });
  PageColumns columns;
  columns.add(scopes.scopes.size());
  columns.add(runs.size());
  columns.add(left_out);
  columns.add(scopes.marks.size());
  for (uint32_t i = 0; i < scopes.scopes.size(); ++i)
    columns.add(scopes.scopes[i].parent == 0 ? 0 : i + 1 - scopes.scopes[i].parent);
  columns.column(scopes.scopes, [&](const Scope& scope) { return texts->number_of(scope.category); });
  columns.column(scopes.scopes, [&](const Scope& scope) { return texts->number_of(scope.name); });
  columns.column(scopes.scopes, [](const Scope& scope) { return scope.is_operator ? 1 : 0; });
  columns.column(scopes.scopes, [](const Scope& scope) { return scope.begun; });
  columns.column(scopes.scopes, [](const Scope& scope) { return scope.time_ns; });
  columns.column(scopes.scopes, [](const Scope& scope) { return scope.own_time_ns; });
  columns.column(scopes.scopes, [](const Scope& scope) { return scope.longest_ns; });
  for (const Scope& scope : scopes.scopes) {
    int64_t growth_bytes = 0;
    for (const ScopeInstance& instance : scope.instances)
      growth_bytes =
          static_cast<int64_t>(static_cast<uint64_t>(growth_bytes) + static_cast<uint64_t>(instance.growth_bytes));
    columns.add_signed(growth_bytes);
  }
  columns.column(runs, [](const Run& run) { return run.scope; });
  columns.deltas(runs, [](const Run& run) { return run.instance->begin_ns; });
  columns.column(runs, [](const Run& run) { return run.length_ns(); });
  columns.column(runs, [](const Run& run) { return run.instance->thread; });
  for (const Run& run : runs) columns.add_signed(run.instance->growth_bytes);
  columns.column(runs, [](const Run& run) { return run.instance->flags; });
  columns.column(scopes.marks, [&](const Mark& mark) { return texts->number_of(mark.category); });
  columns.column(scopes.marks, [&](const Mark& mark) { return texts->number_of(mark.name); });
  columns.deltas(scopes.marks, [](const Mark& mark) { return mark.at_ns; });
  columns.column(scopes.marks, [](const Mark& mark) { return mark.thread; });
  return columns;
}

}  // namespace heapprof::cli
