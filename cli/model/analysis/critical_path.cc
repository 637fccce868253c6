// cli/model/analysis/critical_path.cc: see critical_path.h.
//
// Which run waited for which is unknown. A run is assumed to follow the run, in any thread, that ended last before it
// began, and to begin after the same gap as was recorded between them. Its slack is that of the critical path method,
// which assumes that a run may have waited for all runs that ended before it began.
#include "cli/model/analysis/critical_path.h"

#include "cli/model/analysis/scope_paths.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

uint64_t end_of(const ScopeInstance& run) { return std::max(run.begin_ns, run.end_ns); }
bool is_apart(const ScopeInstance& run) { return (run.flags & kInstanceApart) != 0; }

// The runs, in one thread, of all scopes whose parent is one scope. They may lie inside runs of that scope.
class InnerRuns {
 public:
  void add(const ScopeInstance& run) { runs_.push_back({run.begin_ns, end_of(run)}); }
  void finish() {
    std::sort(runs_.begin(), runs_.end());
    // Replaces each run's end with the earliest end of this run and those after it.
    for (size_t i = runs_.size(); i-- > 1;) runs_[i - 1].second = std::min(runs_[i - 1].second, runs_[i].second);
  }
  bool is_any_inside(const ScopeInstance& run) const {
    const auto first = std::lower_bound(runs_.begin(), runs_.end(), std::pair{run.begin_ns, uint64_t{0}});
    return first != runs_.end() && first->second <= end_of(run);
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> runs_;
};

// For each run, in order, the index of the run that ended last before it began; -1 if there is no such run. If several
// ended at that time, the longest is taken, and of equally long ones the first in order. Among runs of zero length at
// one moment, the earlier in order come before the others.
std::vector<int64_t> find_previous(const std::vector<PathRun>& runs) {
  std::vector<uint32_t> by_end(runs.size());
  std::iota(by_end.begin(), by_end.end(), 0);
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](uint32_t a, uint32_t b) { return runs[a].end_ns < runs[b].end_ns; });
  std::vector<int64_t> previous(runs.size());
  int64_t latest = -1;
  size_t next = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto is_before = [&](uint32_t other) {
      return runs[other].end_ns < runs[i].begin_ns || (runs[other].end_ns == runs[i].begin_ns && other < i);
    };
    for (; next < by_end.size() && is_before(by_end[next]); ++next) {
      if (latest < 0 || runs[by_end[next]].end_ns > runs[static_cast<size_t>(latest)].end_ns) latest = by_end[next];
    }
    previous[i] = latest;
  }
  return previous;
}

// A run can end only so late that its successors (the runs that begin once it has ended) can still begin in time: each
// begins its recorded gap after the last end before it.
void fill_slacks(uint64_t last_end_ns, const std::vector<int64_t>& previous, std::vector<PathRun>* runs) {
  std::vector<uint64_t> latest_end(runs->size() + 1, kNever);  // the latest end that this run and its successors allow
  for (size_t i = runs->size(); i-- > 0;) {
    PathRun& run = (*runs)[i];
    const auto after = std::lower_bound(runs->begin() + static_cast<std::ptrdiff_t>(i) + 1, runs->end(), run.end_ns,
                                        [](const PathRun& other, uint64_t end_ns) { return other.begin_ns < end_ns; });
    const uint64_t allowed = latest_end[static_cast<size_t>(after - runs->begin())];
    run.slack_ns = std::min(last_end_ns, allowed) - run.end_ns;
    const uint64_t own = previous[i] < 0 ? kNever : (*runs)[static_cast<size_t>(previous[i])].end_ns + run.slack_ns;
    latest_end[i] = std::min(latest_end[i + 1], own);
  }
}

}  // namespace

std::vector<PathRun> find_innermost_runs(const Scopes& scopes) {
  std::map<std::pair<uint32_t, uint32_t>, InnerRuns> inner;  // by thread, and the outer scope's index + 1
  for (const Scope& scope : scopes.scopes) {
    if (scope.parent == 0) continue;
    for (const ScopeInstance& run : scope.instances) {
      if (!is_apart(run)) inner[{run.thread, scope.parent}].add(run);
    }
  }
  for (auto& [key, runs] : inner) runs.finish();
  std::vector<PathRun> found;
  for (uint32_t i = 0; i < scopes.scopes.size(); ++i) {
    for (const ScopeInstance& run : scopes.scopes[i].instances) {
      const auto those = is_apart(run) ? inner.end() : inner.find({run.thread, i + 1});
      if (those == inner.end() || !those->second.is_any_inside(run))
        found.push_back({i, run.thread, run.flags, run.begin_ns, end_of(run)});
    }
  }
  for (size_t i = 0; i < scopes.marks.size(); ++i) {
    const Mark& mark = scopes.marks[i];
    found.push_back({static_cast<uint32_t>(scopes.scopes.size() + i), mark.thread, 0, mark.at_ns, mark.at_ns});
  }
  return found;
}

std::vector<uint32_t> chain_runs(uint64_t begin_ns, std::vector<PathRun>* runs) {
  if (runs->empty()) return {};
  const auto order = [](const PathRun& run) { return std::tuple(run.begin_ns, run.end_ns, run.of, run.thread); };
  std::stable_sort(runs->begin(), runs->end(), [&](const PathRun& a, const PathRun& b) { return order(a) < order(b); });
  const std::vector<int64_t> previous = find_previous(*runs);
  int64_t last = 0;
  for (size_t i = 0; i < runs->size(); ++i) {
    PathRun& run = (*runs)[i];
    run.gap_ns = run.begin_ns - (previous[i] < 0 ? begin_ns : (*runs)[static_cast<size_t>(previous[i])].end_ns);
    if (run.end_ns > (*runs)[static_cast<size_t>(last)].end_ns) last = static_cast<int64_t>(i);
  }
  fill_slacks((*runs)[static_cast<size_t>(last)].end_ns, previous, runs);
  std::vector<uint32_t> chain;
  for (int64_t at = last; at >= 0; at = previous[static_cast<size_t>(at)]) chain.push_back(static_cast<uint32_t>(at));
  return chain;
}

bool has_runs(const Scopes& scopes) {
  return std::any_of(scopes.scopes.begin(), scopes.scopes.end(), [](const Scope& s) { return !s.instances.empty(); });
}

namespace {

// Maps the scope or mark of a run to the sum that the run belongs to.
class Summing {
 public:
  Summing(const Scopes& scopes, std::vector<PathSum>* sums) : scopes_(scopes), sums_(sums) {
    of_scope_.resize(scopes.scopes.size(), kNone);
  }

  uint32_t find(uint32_t of) {
    if (of < of_scope_.size()) {
      if (of_scope_[of] == kNone) of_scope_[of] = add(path_of_scope(scopes_, of), false);
      return of_scope_[of];
    }
    const Mark& mark = scopes_.marks[of - of_scope_.size()];
    const auto [at, is_new] = of_mark_.try_emplace({mark.category, mark.name}, kNone);
    if (is_new) {
      Scope named;
      named.category = mark.category;
      named.name = mark.name;
      at->second = add(name_of_scope(named), true);
    }
    return at->second;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t add(std::string name, bool is_mark) {
    sums_->push_back({std::move(name), is_mark});
    return static_cast<uint32_t>(sums_->size() - 1);
  }

  const Scopes& scopes_;
  std::vector<PathSum>* sums_;
  std::vector<uint32_t> of_scope_;
  std::map<std::pair<std::string, std::string>, uint32_t> of_mark_;
};

void sort_sums(CriticalPath* path) {
  std::vector<uint32_t> order(path->sums.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](uint32_t at) {
    const PathSum& sum = path->sums[at];
    return std::tuple(~sum.on_path_ns, ~sum.on_path, sum.least_slack_ns.value_or(0));
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  std::vector<PathSum> sorted;
  std::vector<uint32_t> place(order.size());
  for (const uint32_t at : order) {
    place[at] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move(path->sums[at]));
  }
  path->sums = std::move(sorted);
  for (PathRun& run : path->path) run.of = place[run.of];
}

}  // namespace

CriticalPath find_critical_path(const Scopes& scopes) {
  CriticalPath path;
  std::vector<PathRun> runs = find_innermost_runs(scopes);
  if (runs.empty()) return path;
  path.runs = runs.size();
  path.begin_ns = kNever;
  for (const PathRun& run : runs) {
    path.begin_ns = std::min(path.begin_ns, run.begin_ns);
    path.end_ns = std::max(path.end_ns, run.end_ns);
  }
  for (uint32_t i = 0; i < scopes.scopes.size(); ++i) {
    const Scope& scope = scopes.scopes[i];
    for (const ScopeInstance& run : scope.instances) {  // also those that contain others
      path.begin_ns = std::min(path.begin_ns, run.begin_ns);
      path.end_ns = std::max(path.end_ns, end_of(run));
    }
    if (scope.unkept_instances != 0) path.thinned.push_back({path_of_scope(scopes, i), scope.unkept_instances});
  }
  const std::vector<uint32_t> chain = chain_runs(path.begin_ns, &runs);
  std::vector<bool> is_on_path(runs.size());
  for (const uint32_t at : chain) is_on_path[at] = true;
  Summing summing(scopes, &path.sums);
  for (size_t i = 0; i < runs.size(); ++i) {
    PathRun& run = runs[i];
    run.of = summing.find(run.of);
    PathSum& sum = path.sums[run.of];
    ++sum.runs;
    if (is_on_path[i]) {
      ++sum.on_path;
      sum.on_path_ns += run.end_ns - run.begin_ns;
      path.in_runs_ns += run.end_ns - run.begin_ns;
      path.path.push_back(run);
    } else {
      sum.least_slack_ns = std::min(sum.least_slack_ns.value_or(kNever), run.slack_ns);
    }
  }
  sort_sums(&path);
  return path;
}

}  // namespace heapprof::cli
