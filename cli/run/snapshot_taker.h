// cli/run/snapshot_taker.h: writes profiles of processes while they run.
//
// Guarantees
//  - The collector goes on as soon as it has forked: the copy, which no longer changes, is named and written.
//  - Only processes of our own user and of root are served; one snapshot of a process at a time, a few in all.
// Context:  the collector's thread, between two drain passes.
// Trust:    requests are hostile: checked field by field.
// Cost:     a fork: some 10 ms for each GiB that the collector holds, and the memory that changes while the copy lives.
#pragma once

#include "cli/run/checkpoints.h"
#include "cli/run/finisher.h"
#include "cli/run/processes.h"
#include "cli/target/server.h"

#include <sys/types.h>

#include <vector>

namespace heapprof::cli {

class SnapshotTaker {
 public:
  SnapshotTaker(FinishOptions options, pid_t root_pid, Checkpoints* checkpoints)
      : options_(options), root_pid_(root_pid), checkpoints_(checkpoints) {}
  ~SnapshotTaker();  // waits for those at work, 30 s at most
  SnapshotTaker(const SnapshotTaker&) = delete;
  SnapshotTaker& operator=(const SnapshotTaker&) = delete;

  // pre: caller.snapshot
  void take(const Caller& caller, Server* server, Processes* processes);
  // Reaps finished writers; true if others are at work.
  bool reap();
  // The same, and writes checkpoints.
  void tick(Server* server, Processes* processes) {
    reap();
    checkpoints_->tick(server, processes);
  }

 private:
  struct Work {
    pid_t writer;
    pid_t of;
    UniqueFd said;  // an eventfd, which the writer sets before its last answer
  };
  // True for a writer that only has to end, which takes time if the copy is large.
  static bool is_said(const Work& work);
  [[noreturn]] void write(const Caller& caller, pid_t of, int said, Server* server, Processes* processes) const;

  FinishOptions options_;
  pid_t root_pid_;
  Checkpoints* checkpoints_;
  std::vector<Work> at_work_;
};

}  // namespace heapprof::cli
