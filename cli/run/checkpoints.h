// cli/run/checkpoints.h: profiles of what runs still, where the run will write its own, for the case that the run and
// heapprof are killed together.
//
// Guarantees
//  - A checkpoint has the name that the process's profile will have, and is replaced by it. It is whole or not there,
//    and says that the process was running. What is no regular file gets none.
//  - From a minute on the checkpoints take 0.1 % of the run's time at most, in processor time; 60 ms before that. A run
//    of less than a second has none, unless it has snapshots (run --interval).
//  - When claim() has returned, nothing is written to that name any more.
// Context:  the collector's thread, between two rounds.
// Cost:     a fork, as a snapshot's (snapshot_taker.h), and what the copy does: 5 ms for a small program, names apart.
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
  ~Checkpoints();  // also removes those that stand for no process any more: it went on as a program without an agent
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Begins what is due, takes leave of what is done.
  void tick(Server* server, Processes* processes);

  // The name for the profile of a process's last image. Of what a process goes on as after that, it is another one.
  Claim claim(ProcessNumber number, const ImageName& image);

 private:
  struct Plan {
    std::string path;  // empty: there can be none
    uint64_t due_ns = 0;
    bool is_written = false;
    bool wants_names = false;  // it is there without names
  };
  struct Work {
    pid_t writer = 0;  // 0: none
    ProcessNumber number = kRootNumber;
    bool has_names = false;
    uint64_t begin_ns = 0;
    uint64_t most_ns = 0;  // in which it is done, or never
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
  uint64_t bare_ns_ = 0;                 // what the last one without names took
  uint64_t named_ns_;                    // with names: what the next is expected to take
  bool is_named_ = false;                // one with names was written in time
  std::map<ProcessNumber, Plan> plans_;  // of those that are not claimed
  Work work_;
};

}  // namespace heapprof::cli
