// cli/model/analysis/critical_path.h: which runs through scopes, one after the other, determined a program's time, and
// how much longer each of the other runs could have taken (man heapprof-report, CRITICAL PATH, has the rules in words).
//
// Guarantees
//  - Only the measured begins and ends of kept runs are used, and no averages.
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

// An innermost run: no other kept run of its thread lies inside it. Or a mark, which takes no time.
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
  std::string name;  // the scope's path as in reports, or the mark's name; control characters escaped
  bool is_mark = false;
  uint64_t runs = 0;
  uint64_t on_path = 0;
  uint64_t on_path_ns = 0;
  std::optional<uint64_t> least_slack_ns = {};  // of the runs that are not on the path
};

struct ThinnedScope {
  std::string name;
  uint64_t unkept = 0;  // runs
};

struct CriticalPath {
  uint64_t begin_ns = 0;  // of the first run, since the program's start
  uint64_t end_ns = 0;    // of the last run, including runs that contain others
  uint64_t in_runs_ns = 0;
  uint64_t runs = 0;  // number of runs considered
  std::vector<PathRun> path;
  std::vector<PathSum> sums;          // the most time on the path first, then the least slack
  std::vector<ThinnedScope> thinned;  // scopes with runs that were not kept: the path may lack these

  uint64_t duration_ns() const { return end_ns - begin_ns; }
};

// Returns an empty path if there are no runs.
CriticalPath find_critical_path(const Scopes& scopes);

// Whether at least one run through a scope was kept.
bool has_runs(const Scopes& scopes);

// ---- Parts ----

// The runs that count, in no particular order. `of` is a scope's index, or the number of scopes plus a mark's index.
std::vector<PathRun> find_innermost_runs(const Scopes& scopes);
// Sorts runs and fills in gaps and slacks. Returns the indexes of those on the path, the last one first.
std::vector<uint32_t> chain_runs(uint64_t begin_ns, std::vector<PathRun>* runs);

}  // namespace heapprof::cli
