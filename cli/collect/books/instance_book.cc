// cli/collect/books/instance_book.cc: a path's runs are a list in one array for all paths, so that any path can reuse
// the room that another one freed.
//
// The path with the most runs is thinned, and all paths with at least half as many. Finding the path with the most runs
// takes a look at each path, so it should not be done often. What the devices had before and after is the same for most
// runs, so runs share rows of it.
#include "cli/collect/books/instance_book.h"

#include <algorithm>
#include <new>

namespace heapprof::cli {

void InstanceBook::set_devices_live(DevicesLive&& live) {
  if (live == rows_[now_].live) return;
  uint32_t row = 0;  // nothing is changed before there is memory for it
  if (!live.empty()) {
    if (free_rows_.empty()) {
      if (free_rows_.capacity() <= rows_.size()) free_rows_.reserve(2 * rows_.size() + 8);  // freeing must not allocate
      rows_.emplace_back();
      free_rows_.push_back(static_cast<uint32_t>(rows_.size() - 1));
    }
    row = free_rows_.back();
    free_rows_.pop_back();
    row_bytes_ += bytes_of(live);
    rows_[row] = {std::move(live), 1};
  }
  release(now_);
  now_ = row;
}

void InstanceBook::drop(uint32_t row) {
  if (--rows_[row].users != 0) return;
  row_bytes_ -= bytes_of(rows_[row].live);
  DevicesLive().swap(rows_[row].live);
  free_rows_.push_back(row);
}

void InstanceBook::hold(const Run& run) {
  if (run.before != 0) ++rows_[run.before].users;
  if (run.after != 0) ++rows_[run.after].users;
}

void InstanceBook::replace(Run* extreme, const Run& run, uint64_t number) {
  hold(run);
  if (extreme->number != kNone) release(*extreme);
  *extreme = run;
  extreme->number = number;
}

void InstanceBook::note_extremes(PathRuns* runs, const Run& run, bool ended) {
  if (run.growth_bytes > runs->grown.growth_bytes) replace(&runs->grown, run, runs->seen);
  if (!ended) return;
  if (runs->shortest.number == kNone || run.active_ticks < runs->shortest.active_ticks)
    replace(&runs->shortest, run, runs->seen);
  if (runs->longest.number == kNone || run.active_ticks > runs->longest.active_ticks)
    replace(&runs->longest, run, runs->seen);
}

void InstanceBook::add(uint32_t path, const Run& run, bool ended) {
  PathRuns& runs = paths_[path];
  note_extremes(&runs, run, ended);
  if ((runs.seen & runs.mask) == 0) {
    try {
      keep(&runs, run);
      ++runs.seen;
      return;
    } catch (const std::bad_alloc&) {
    }
  }
  ++runs.seen;
  release(run);
}

void InstanceBook::keep(PathRuns* runs, const Run& run) {
  if (kept_bytes() + sizeof(Node) > most_bytes_) [[unlikely]] {
    thin();
    if (kept_bytes() + sizeof(Node) > most_bytes_) {
      runs->mask = runs->mask << 1 | 1;  // another try at once would free no more
      return release(run);
    }
    if ((runs->seen & runs->mask) != 0) return release(run);
  }
  uint32_t node = free_;
  if (node == 0) {
    if (nodes_.size() == 0) nodes_.grow_to(1);
    node = static_cast<uint32_t>(nodes_.size());
    nodes_.grow_to(node + 1);
  } else {
    free_ = nodes_[node].next;
  }
  nodes_[node] = {run, 0, 0};
  nodes_[node].run.number = runs->seen;
  (runs->last == 0 ? runs->first : nodes_[runs->last].next) = node;
  runs->last = node;
  ++runs->count;
  ++used_;
}

void InstanceBook::thin() {
  uint32_t most = 0;
  for (const PathRuns& runs : paths_) most = std::max(most, runs.count);
  if (most < 2) return;
  for (PathRuns& runs : paths_) {
    if (runs.count >= std::max(2u, most / 2)) thin(&runs);
  }
}

// Keeps the first, the third, the fifth …
void InstanceBook::thin(PathRuns* runs) {
  for (uint32_t at = runs->first; at != 0; at = nodes_[at].next) {
    const uint32_t second = nodes_[at].next;
    runs->last = at;
    if (second == 0) break;
    nodes_[at].next = nodes_[second].next;
    release(nodes_[second].run);
    nodes_[second].next = free_;
    free_ = second;
    --runs->count;
    --used_;
  }
  runs->mask = runs->mask << 1 | 1;
}

}  // namespace heapprof::cli
