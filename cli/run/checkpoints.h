// cli/run/checkpoints.h: writes profiles of running processes to the paths of their final profiles, in case the run and
// heapprof are killed together.
//
// Guarantees
//  - A checkpoint has the name of the process's final profile, which later replaces it. The file is complete or does
//    not exist, and says that the process was running. If that path exists and is not a regular file, no checkpoint is
//    written.
//  - All checkpoints together take 60 ms of processor time at most, or 0.1 % of the run's time for each of its
//    processes (but no more processes than there are cores), whichever is more. A run shorter than a second has no
//    checkpoint, unless it takes snapshots more often (run --interval).
//  - Once claim() has returned, no checkpoint is written to the claimed name.
// Context:  the collector's thread, between two drain passes.
// Cost:     a fork, as for a snapshot (snapshot_taker.h), and the work of the forked copy: 5 ms for a small program,
//           without names.
#pragma once

#include "cli/collect/memory/memory_budget.h"
#include "cli/run/finisher.h"
#include "cli/run/processes.h"
#include "cli/run/profile_path.h"
#include "cli/target/server.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace heapprof::cli {

class Checkpoints {
 public:
  using NameOf = std::function<std::string(const ImageName&)>;
  struct Claim {
    std::string path;
    bool may_overwrite;  // a checkpoint of this run is there, or --output is given
  };

  // interval_ns: the time between the run's snapshots; 0: no snapshots. name_of: gives the name of a process's last
  // image; called once for each process.
  Checkpoints(const FinishOptions& options, uint64_t interval_ns, uint64_t max_memory_bytes, bool may_overwrite,
              NameOf name_of);
  ~Checkpoints();  // also removes unclaimed checkpoints: their process continued as a program without an agent
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Starts due checkpoints, and reaps finished ones.
  void tick(Server* server, Processes* processes);

  // The name for the profile of a process's last image. If the process turns out to continue as another image, that
  // image gets another name.
  Claim claim(ProcessNumber number, const ImageName& image);

 private:
  struct Plan {
    std::string path;  // where the checkpoint is written
    uint64_t due_ns = 0;
    bool is_written = false;
    bool wants_names = false;  // a checkpoint without names is there; one with names is to follow
  };
  struct Work {
    pid_t writer = 0;  // 0: no copy is at work
    ProcessNumber number = kRootNumber;
    bool has_names = false;
    uint64_t begin_ns = 0;
    uint64_t most_ns = 0;  // the copy is killed if it takes longer
  };

  Plan& plan_of(ProcessNumber number, const ImageName& image);
  uint64_t allowance_ns(uint64_t now_ns, size_t processes) const;
  void begin(const RunningImage& image, bool has_names, uint64_t most_ns, Server* server, Processes* processes);
  [[noreturn]] void write(pid_t pid, const Plan& plan, bool has_names, Server* server, Processes* processes) const;
  bool reap();
  void take_leave(bool is_good, uint64_t cpu_ns);
  void abandon();

  FinishOptions options_;
  uint64_t first_ns_;    // the age of a process at its first checkpoint
  uint64_t longest_ns_;  // the longest time between two checkpoints of one process
  MemoryBudget budget_;
  bool may_overwrite_;
  NameOf name_of_;
  uint64_t start_ns_;
  uint64_t next_look_ns_ = 0;
  uint64_t spent_ns_ = 0;
  uint64_t bare_ns_ = 0;                 // processor time of the last checkpoint without names
  uint64_t named_ns_;                    // expected processor time of the next checkpoint with names
  bool is_named_ = false;                // a checkpoint with names was written in time
  std::map<ProcessNumber, Plan> plans_;  // of processes whose names are not claimed yet
  Work work_;
};

}  // namespace heapprof::cli
