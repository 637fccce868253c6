// cli/collect/books/instance_book.h: single runs through scopes ("instances"): when each began and ended, on which
// thread, and how much was live before and after.
//
// Guarantees
//  - For each path three runs are always kept: the shortest and the longest of those that ended by themselves, and the
//    one that grew most, however it ended.
//  - The others take kMostBytes at most. When there is no more room, every second run of the paths with most runs is
//    dropped. From then on only every second, then every fourth … run through these paths is kept. So the kept runs of
//    a path are spread evenly over all its runs.
//  - Without memory a run is not kept, and nothing is thrown: ScopePath::begun counts all runs.
// Context:  one thread.
// Cost:     a run that is not kept takes some 60 instructions (tests/bench/runs/2026-11-24-instances.md); what is live
//           on devices is stored once for all runs between two changes of it.
#pragma once

#include "cli/collect/memory/growing_array.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace heapprof::cli {

class InstanceBook {
 public:
  static constexpr uint64_t kMostBytes = 8u << 20;

  // By wire's device number; only devices that have memory, without the host.
  using DevicesLive = std::vector<std::pair<uint32_t, uint64_t>>;

  struct Run {
    uint64_t begin_ticks;
    uint64_t end_ticks;
    uint64_t active_ticks;  // without the time between a leave and an enter
    uint64_t host_before_bytes;
    uint64_t host_after_bytes;
    int64_t growth_bytes;  // of all devices: what it and its inner scopes allocated, less what they freed
    uint64_t number;       // among its path's runs, in the order of their ends
    uint32_t thread_id;    // the thread that began it
    uint32_t before;       // what devices had: devices_live()
    uint32_t after;
    uint32_t flags;  // cli/model/profile/scopes.h
  };
  static_assert(sizeof(Run) == 72);

  explicit InstanceBook(uint64_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // Adds the next path; the first one is 0. May throw std::bad_alloc.
  void add_path() { paths_.emplace_back(); }

  // Sets what devices have from now on.
  void set_devices_live(DevicesLive&& live);
  // The row of what devices have now, kept until release().
  uint32_t hold_devices_live() {
    if (now_ != 0) ++rows_[now_].users;
    return now_;
  }
  void release(uint32_t row) {
    if (row != 0) drop(row);
  }
  const DevicesLive& devices_live(uint32_t row) const { return rows_[row].live; }

  // A run has ended. Its number is set here; takes over run.before and run.after from the caller. ended: by its own end
  // pre: wants() has just returned true
  void add(uint32_t path, const Run& run, bool ended);
  // Whether the run is to be kept. If not, it is only counted.
  bool wants(uint32_t path, uint64_t active_ticks, int64_t growth_bytes, bool ended) {
    PathRuns& runs = paths_[path];
    if ((runs.seen & runs.mask) == 0 || growth_bytes > runs.grown.growth_bytes) return true;
    if (ended && (active_ticks < runs.shortest.active_ticks || active_ticks > runs.longest.active_ticks)) return true;
    ++runs.seen;
    return false;
  }

  // visit(run): each kept run of a path once, in no particular order.
  template <typename Visitor>
  void for_each(uint32_t path, const Visitor& visit) const {
    const PathRuns& runs = paths_[path];
    const auto is_kept = [&](const Run& extreme) {
      for (uint32_t i = runs.first; i != 0; i = nodes_[i].next) {
        if (nodes_[i].run.number == extreme.number) return true;
      }
      return false;
    };
    for (uint32_t i = runs.first; i != 0; i = nodes_[i].next) visit(nodes_[i].run);
    const Run* const extremes[] = {&runs.shortest, &runs.longest, &runs.grown};
    for (size_t i = 0; i < 3; ++i) {
      bool is_new = extremes[i]->number != kNone && !is_kept(*extremes[i]);
      for (size_t j = 0; j < i; ++j) is_new = is_new && extremes[j]->number != extremes[i]->number;
      if (is_new) visit(*extremes[i]);
    }
  }
  uint64_t bytes() const { return kept_bytes() + paths_.size() * sizeof(PathRuns); }
  uint64_t kept() const { return used_; }  // without extremes

 private:
  static constexpr uint64_t kNone = UINT64_MAX;
  static constexpr Run no_run(uint64_t active_ticks) {
    return {0, 0, active_ticks, 0, 0, INT64_MIN, kNone, 0, 0, 0, 0};
  }
  static constexpr uint64_t kRowBytes = 64;

  struct Node {
    Run run;
    uint32_t next;  // the next younger run of the same path; or the next in the free list
    uint32_t reserved;
  };
  struct PathRuns {
    uint32_t first = 0;
    uint32_t last = 0;
    uint32_t count = 0;
    uint64_t mask = 0;  // a run is taken if its number has none of these bits
    uint64_t seen = 0;
    Run shortest = no_run(UINT64_MAX);
    Run longest = no_run(0);
    Run grown = no_run(0);
  };
  struct Row {
    DevicesLive live;
    uint64_t users = 0;
  };

  uint64_t kept_bytes() const { return used_ * sizeof(Node) + row_bytes_; }
  static uint64_t bytes_of(const DevicesLive& live) { return kRowBytes + live.size() * sizeof live[0]; }
  void hold(const Run& run);
  void drop(uint32_t row);
  void release(const Run& run) {
    release(run.before);
    release(run.after);
  }
  void replace(Run* extreme, const Run& run, uint64_t number);
  void note_extremes(PathRuns* runs, const Run& run, bool ended);
  void keep(PathRuns* runs, const Run& run);
  void thin();
  void thin(PathRuns* runs);

  uint64_t most_bytes_;
  std::vector<PathRuns> paths_;
  GrowingArray<Node> nodes_;  // [0] is unused
  uint32_t free_ = 0;
  uint64_t used_ = 0;
  std::vector<Row> rows_ = std::vector<Row>(1);  // [0]: no device has memory
  std::vector<uint32_t> free_rows_;
  uint64_t row_bytes_ = 0;
  uint32_t now_ = 0;
};

}  // namespace heapprof::cli
