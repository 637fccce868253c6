// tests/unit/model/critical_path_test.cc: the critical path and slacks, beside an oracle that tries each pair of runs,
// and moves ends until the end of all moves.
#include "cli/model/analysis/critical_path.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <tuple>

using namespace heapprof::cli;

namespace {

struct OracleRun {
  uint64_t begin = 0, end = 0;
  uint32_t of = 0, thread = 0;  // of: as in find_innermost_runs
};

bool is_before(const std::vector<OracleRun>& runs, size_t a, size_t b) {
  const auto order = [&](size_t at) { return std::tuple(runs[at].begin, runs[at].end, at); };
  return runs[a].end <= runs[b].begin && order(a) < order(b);
}

// By the words of the manual page, run by run.
std::vector<OracleRun> innermost_by_words(const Scopes& scopes) {
  std::vector<OracleRun> found;
  for (uint32_t i = 0; i < scopes.scopes.size(); ++i) {
    for (const ScopeInstance& outer : scopes.scopes[i].instances) {
      bool is_innermost = true;
      for (const Scope& scope : scopes.scopes) {
        if (scope.parent != i + 1) continue;
        for (const ScopeInstance& inner : scope.instances) {
          if (((inner.flags | outer.flags) & kInstanceApart) == 0 && inner.thread == outer.thread &&
              inner.begin_ns >= outer.begin_ns && inner.end_ns <= outer.end_ns)
            is_innermost = false;
        }
      }
      if (is_innermost) found.push_back({outer.begin_ns, outer.end_ns, i, outer.thread});
    }
  }
  for (uint32_t i = 0; i < scopes.marks.size(); ++i) {
    const Mark& mark = scopes.marks[i];
    found.push_back({mark.at_ns, mark.at_ns, static_cast<uint32_t>(scopes.scopes.size()) + i, mark.thread});
  }
  std::stable_sort(found.begin(), found.end(), [](const OracleRun& a, const OracleRun& b) {
    return std::tuple(a.begin, a.end, a.of, a.thread) < std::tuple(b.begin, b.end, b.of, b.thread);
  });
  return found;
}

// The end of all if the run ends so much later: each begins as long as it did behind the last of those before it.
uint64_t end_of_all(const std::vector<OracleRun>& runs, size_t moved, uint64_t by) {
  std::vector<uint64_t> ends(runs.size());
  uint64_t last = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    std::optional<uint64_t> was, is;
    for (size_t j = 0; j < runs.size(); ++j) {
      if (!is_before(runs, j, i)) continue;
      was = std::max(was.value_or(0), runs[j].end);
      is = std::max(is.value_or(0), ends[j]);
    }
    const uint64_t shift = was ? *is - *was : 0;
    ends[i] = runs[i].end + shift + (i == moved ? by : 0);
    last = std::max(last, ends[i]);
  }
  return last;
}

uint64_t slack_by_trial(const std::vector<OracleRun>& runs, size_t at) {
  const uint64_t last = end_of_all(runs, at, 0);
  uint64_t slack = 0;
  while (end_of_all(runs, at, slack + 1) == last) ++slack;
  return slack;
}

std::vector<size_t> path_by_search(const std::vector<OracleRun>& runs) {
  const auto is_better = [&](size_t a, size_t b) {  // ends later, or is longer, or is the first in order
    return std::tuple(~runs[a].end, runs[a].begin, a) < std::tuple(~runs[b].end, runs[b].begin, b);
  };
  size_t at = 0;
  for (size_t i = 1; i < runs.size(); ++i) {
    if (is_better(i, at)) at = i;
  }
  std::vector<size_t> path = {at};
  while (true) {
    std::optional<size_t> best;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (is_before(runs, i, at) && (!best || is_better(i, *best))) best = i;
    }
    if (!best) break;
    at = *best;
    path.insert(path.begin(), at);
  }
  return path;
}

// Any times whatever, in few values, so that many are equal, and some runs take no time.
Scopes random_scopes(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  Scopes scopes;
  const uint32_t horizon = 3 + below(40);
  const uint32_t count = 1 + below(5);
  for (uint32_t i = 0; i < count; ++i) {
    Scope scope;
    scope.name = std::string(1, static_cast<char>('a' + i));
    scope.parent = below(i + 1);
    const uint32_t runs = below(7);
    for (uint32_t run = 0; run < runs; ++run) {
      ScopeInstance instance;
      instance.begin_ns = 5 + below(horizon);
      instance.end_ns = instance.begin_ns + below(4) * below(6);
      instance.thread = 1 + below(3);
      instance.flags = below(6) == 0 ? kInstanceApart : 0;
      scope.instances.push_back(instance);
    }
    std::sort(scope.instances.begin(), scope.instances.end(),
              [](const ScopeInstance& a, const ScopeInstance& b) { return a.begin_ns < b.begin_ns; });
    scope.unkept_instances = below(4) == 0 ? below(9) : 0;
    scopes.scopes.push_back(scope);
  }
  for (uint32_t marks = below(3); marks > 0; --marks) {
    Mark mark;
    mark.name = std::string(1, static_cast<char>('x' + below(2)));
    mark.at_ns = 5 + below(horizon);
    mark.thread = 1 + below(3);
    scopes.marks.push_back(mark);
  }
  return scopes;
}

std::string name_of(const Scopes& scopes, uint32_t of) {
  if (of >= scopes.scopes.size()) return "mark " + scopes.marks[of - scopes.scopes.size()].name;
  const Scope& scope = scopes.scopes[of];
  return (scope.parent == 0 ? "" : name_of(scopes, scope.parent - 1) + " > ") + scope.name;
}
std::string name_of(const PathSum& sum) { return (sum.is_mark ? "mark " : "") + sum.name; }

struct Sum {
  uint64_t runs = 0, on_path = 0, time = 0;
  std::optional<uint64_t> slack;
  bool operator==(const Sum& other) const = default;
};

void check_against_oracle(const Scopes& scopes) {
  const CriticalPath found = find_critical_path(scopes);
  const std::vector<OracleRun> runs = innermost_by_words(scopes);
  REQUIRE(found.runs == runs.size());
  if (runs.empty()) {
    CHECK(found.path.empty());
    return;
  }
  const std::vector<size_t> path = path_by_search(runs);
  REQUIRE(found.path.size() == path.size());
  uint64_t end = found.begin_ns, in_runs = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    const OracleRun& run = runs[path[i]];
    const PathRun& other = found.path[i];
    CHECK(std::tuple(other.begin_ns, other.end_ns, other.thread) == std::tuple(run.begin, run.end, run.thread));
    CHECK(name_of(found.sums[other.of]) == name_of(scopes, run.of));
    CHECK(other.gap_ns == run.begin - end);
    CHECK(other.slack_ns == 0);
    end = run.end;
    in_runs += run.end - run.begin;
  }
  CHECK(found.in_runs_ns == in_runs);
  std::map<std::string, Sum> sums;
  for (size_t i = 0; i < runs.size(); ++i) {
    Sum& sum = sums[name_of(scopes, runs[i].of)];
    ++sum.runs;
    const uint64_t slack = slack_by_trial(runs, i);
    if (std::find(path.begin(), path.end(), i) != path.end()) {
      CHECK(slack == 0);
      ++sum.on_path;
      sum.time += runs[i].end - runs[i].begin;
    } else {
      sum.slack = std::min(sum.slack.value_or(UINT64_MAX), slack);
    }
  }
  std::map<std::string, Sum> found_sums;
  for (const PathSum& sum : found.sums)
    found_sums[name_of(sum)] = {sum.runs, sum.on_path, sum.on_path_ns, sum.least_slack_ns};
  CHECK(found_sums == sums);
  uint64_t first = UINT64_MAX, last = 0, unkept = 0, thinned = 0;
  for (const Scope& scope : scopes.scopes) {
    unkept += scope.unkept_instances;
    for (const ScopeInstance& run : scope.instances) {
      first = std::min(first, run.begin_ns);
      last = std::max(last, run.end_ns);
    }
  }
  for (const Mark& mark : scopes.marks) {
    first = std::min(first, mark.at_ns);
    last = std::max(last, mark.at_ns);
  }
  CHECK(std::tuple(found.begin_ns, found.end_ns) == std::tuple(first, last));
  for (const ThinnedScope& scope : found.thinned) thinned += scope.unkept;
  CHECK(thinned == unkept);
}

Scope scope_of(const char* name, uint32_t parent, std::vector<ScopeInstance> instances) {
  Scope scope;
  scope.name = name;
  scope.parent = parent;
  scope.instances = std::move(instances);
  return scope;
}
ScopeInstance run_of(uint64_t begin, uint64_t end, uint32_t thread, uint32_t flags = 0) {
  return {begin, end, end - begin, 0, thread, flags};
}

}  // namespace

TEST_CASE("critical path: what an oracle finds on random schedules") {
  for (uint32_t seed = 0; seed < 600; ++seed) {
    INFO("seed " << seed);
    check_against_oracle(random_scopes(seed));
  }
}

TEST_CASE("critical path: the example of the manual page") {
  Scopes scopes;
  scopes.scopes = {scope_of("serve", 0, {run_of(0, 100, 1)}), scope_of("parse", 1, {run_of(5, 25, 1)}),
                   scope_of("write", 1, {run_of(80, 95, 1)}),
                   scope_of("decode", 0, {run_of(30, 70, 2), run_of(30, 45, 3)}),
                   scope_of("encode", 0, {run_of(48, 60, 3)})};
  check_against_oracle(scopes);
  const CriticalPath path = find_critical_path(scopes);
  REQUIRE(path.path.size() == 3);
  CHECK(path.in_runs_ns == 75);
  CHECK(path.duration_ns() == 100);
  REQUIRE(path.sums.size() == 4);  // nothing is innermost of "serve"
  CHECK(path.sums[0].name == "decode");
  CHECK(path.sums[0].on_path == 1);
  CHECK(path.sums[0].least_slack_ns == 10);
  CHECK(path.sums[3].name == "encode");
  CHECK(path.sums[3].least_slack_ns == 10);
}

TEST_CASE("critical path: an apart run is inside of none, and none is inside of it") {
  Scopes scopes;
  scopes.scopes = {scope_of("outer", 0, {run_of(0, 100, 1, kInstanceApart)}),
                   scope_of("inner", 1, {run_of(10, 20, 1)})};
  CHECK(find_critical_path(scopes).runs == 2);
  scopes.scopes[0].instances[0].flags = 0;
  CHECK(find_critical_path(scopes).runs == 1);
  scopes.scopes[1].instances[0].flags = kInstanceApart;
  CHECK(find_critical_path(scopes).runs == 2);
  scopes.scopes[1].instances[0] = run_of(10, 20, 2);  // another thread's
  CHECK(find_critical_path(scopes).runs == 2);
}

TEST_CASE("critical path: times at the end of all numbers, and runs that end before they begin") {
  Scopes scopes;
  scopes.scopes = {
      scope_of("a", 0, {run_of(0, UINT64_MAX - 1, 1), run_of(5, 7, 2), run_of(UINT64_MAX, UINT64_MAX, 2)})};
  scopes.scopes[0].instances[1].end_ns = 3;
  const CriticalPath path = find_critical_path(scopes);
  CHECK(path.duration_ns() == UINT64_MAX);
  REQUIRE(path.path.size() == 2);
  CHECK(path.sums[0].least_slack_ns == UINT64_MAX - 1 - 5);
}

TEST_CASE("critical path: without runs there is none; marks alone are no runs of scopes") {
  Scopes scopes;
  CHECK(find_critical_path(scopes).path.empty());
  CHECK_FALSE(has_runs(scopes));
  scopes.marks.resize(1);
  CHECK_FALSE(has_runs(scopes));
  CHECK(find_critical_path(scopes).path.size() == 1);
  scopes.scopes = {scope_of("a", 0, {run_of(3, 3, 1)})};
  CHECK(has_runs(scopes));
}
