// cli/model/analysis/critical_path.h: which runs through scopes, one after the other, determined a program's time, and
// how much longer each other run could have taken (man heapprof-report, CRITICAL PATH, has the rules in words).
//
// Guarantees
//  - Only measured begins and ends are used: no averages, and no run that was not kept.
//  - Runs on the path have no slack. The same profile has the same path, even if several runs begin or end at the same
//    moment.
//
// Cost:     n log n for n runs.
#pragma once

#include "cli/model/profile/scopes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// A run inside which no other run of its thread was kept, or a mark, which takes no time.
struct PathRun {
  uint32_t of = 0;  // index into CriticalPath::sums
  uint32_t thread = 0;
  uint32_t flags = 0;  // kInstanceLeft and so on
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t gap_ns = 0;    // from the end of the last run that ended before it, or from the first begin of all
  uint64_t slack_ns = 0;  // how much later it could have ended without moving the path's last end
};

// Sums the innermost runs through a scope, or the marks of one name.
struct PathSum {
  std::string name;  // a path as reports show it, controls escaped; of marks their name
  bool is_mark = false;
  uint64_t runs = 0;
  uint64_t on_path = 0;
  uint64_t on_path_ns = 0;
  std::optional<uint64_t> least_slack_ns = {};  // of those not on the path
};

struct ThinnedScope {
  std::string name;
  uint64_t unkept = 0;  // runs
};

struct CriticalPath {
  uint64_t begin_ns = 0;  // of the first run of all, since the start
  uint64_t end_ns = 0;    // the last of all, including runs that contain others
  uint64_t in_runs_ns = 0;
  uint64_t runs = 0;  // that were considered
  std::vector<PathRun> path;
  std::vector<PathSum> sums;          // the most time on the path first, then the least slack
  std::vector<ThinnedScope> thinned;  // scopes with runs that were not kept: the path may lack these

  uint64_t duration_ns() const { return end_ns - begin_ns; }
};

// Without runs: an empty path.
CriticalPath find_critical_path(const Scopes& scopes);

// Whether there is a run through a scope that was kept.
bool has_runs(const Scopes& scopes);

// ---- Parts ----

// The runs that count, in no order; `of` is a scope's index; marks are numbered after all scopes.
std::vector<PathRun> find_innermost_runs(const Scopes& scopes);
// Sorts runs and fills in gaps and slacks. Returns the indexes of those on the path, the last one first.
std::vector<uint32_t> chain_runs(uint64_t begin_ns, std::vector<PathRun>* runs);

}  // namespace heapprof::cli
