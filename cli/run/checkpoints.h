// cli/run/checkpoints.h: profiles of running processes, at the paths of their final profiles, in case the run and
// heapprof are killed together.
//
// Guarantees
//  - A checkpoint has the name that the process's profile will have, which replaces it. It is whole or not there, and
//    says that the process was running. If that path is not a regular file, there is no checkpoint.
//  - From a minute on, the checkpoints take 0.1 % of the run's time at most, in processor time; before that, 60 ms. A
//    run shorter than a second has no checkpoint, unless it has snapshots (run --interval).
//  - When claim() has returned, nothing is written to that name any more.
// Context:  the collector's thread, between two drain passes.
// Cost:     a fork, as a snapshot's (snapshot_taker.h), and the copy's work: 5 ms for a small program, without names.
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
    bool may_overwrite;  // a checkpoint is there
  };

  // interval_ns: of the run's snapshots; 0: none. name_of: the name of a process's last image, asked for once.
  Checkpoints(const FinishOptions& options, uint64_t interval_ns, uint64_t max_memory_bytes, bool may_overwrite,
              NameOf name_of);
  ~Checkpoints();  // also removes those whose process went on as a program without an agent
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Starts due checkpoints, and reaps finished ones.
  void tick(Server* server, Processes* processes);

  // The name for the profile of a process's last image. If the process goes on as another image after that, that image
  // gets another name.
  Claim claim(ProcessNumber number, const ImageName& image);

 private:
  struct Plan {
    std::string path;  // empty: not possible
    uint64_t due_ns = 0;
    bool is_written = false;
    bool wants_names = false;  // it was written without names
  };
  struct Work {
    pid_t writer = 0;  // 0: none
    ProcessNumber number = kRootNumber;
    bool has_names = false;
    uint64_t begin_ns = 0;
    uint64_t most_ns = 0;  // it is done in this time, or ended
  };

  Plan& plan_of(ProcessNumber number, const ImageName& image);
  uint64_t allowance_ns(uint64_t now_ns, size_t processes) const;
  void begin(const RunningImage& image, bool has_names, uint64_t most_ns, Server* server, Processes* processes);
  [[noreturn]] void write(pid_t pid, const Plan& plan, bool has_names, Server* server, Processes* processes) const;
  bool reap();
  void take_leave(bool is_good, uint64_t cpu_ns);
  void abandon();

  FinishOptions options_;
  uint64_t first_ns_;    // a process's age
  uint64_t longest_ns_;  // between two of one process
  MemoryBudget budget_;
  bool may_overwrite_;
  NameOf name_of_;
  uint64_t start_ns_;
  uint64_t next_look_ns_ = 0;
  uint64_t spent_ns_ = 0;
  uint64_t bare_ns_ = 0;                 // time of the last one without names
  uint64_t named_ns_;                    // expected time of the next one with names
  bool is_named_ = false;                // a checkpoint with names was written in time
  std::map<ProcessNumber, Plan> plans_;  // of those that are not claimed
  Work work_;
};

}  // namespace heapprof::cli
