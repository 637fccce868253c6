// cli/run/snapshot_taker.h: writes profiles of processes while they run.
//
// Guarantees
//  - The collector continues as soon as it has forked. The forked copy, whose data does not change, looks up names and
//    writes the profile.
//  - Only requests from processes of our own user or of root are served. One snapshot of a process is taken at a time,
//    and at most four in all.
// Context:  the collector's thread, between two drain passes.
// Trust:    requests may be hostile; every field is checked.
// Cost:     a fork, which takes about 10 ms for each GiB of the collector's memory; and a copy of each page that
//           changes while the forked copy lives.
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
  ~SnapshotTaker();  // waits for the writers at work, 30 s at most
  SnapshotTaker(const SnapshotTaker&) = delete;
  SnapshotTaker& operator=(const SnapshotTaker&) = delete;

  // pre: caller.snapshot
  void take(const Caller& caller, Server* server, Processes* processes);
  // Reaps finished writers. True: other writers are still at work.
  bool reap();
  // The same, and also starts and reaps checkpoints.
  void tick(Server* server, Processes* processes) {
    reap();
    checkpoints_->tick(server, processes);
  }

 private:
  struct Work {
    pid_t writer;
    pid_t of;
    UniqueFd said;  // an eventfd that the writer sets before it sends its last answer
  };
  // True if the writer has answered and only has to exit, which takes time if the copy is large.
  static bool is_said(const Work& work);
  [[noreturn]] void write(const Caller& caller, pid_t of, int said, Server* server, Processes* processes) const;

  FinishOptions options_;
  pid_t root_pid_;
  Checkpoints* checkpoints_;
  std::vector<Work> at_work_;
};

}  // namespace heapprof::cli
