// cli/run/top_desk.h: serves the subscribers that watch a process of the run live (`heapprof top`, `run --live`).
//
// Guarantees
//  - Only our own user and root are served; four watchers at a time, and two copies that look up names.
//  - The collector waits for no watcher: if an answer does not fit into the socket, or a watcher asks again before it
//    has read the last answer, its connection is closed. A stopped watcher costs nothing.
//  - Totals go to sixteen clients at a time, one answer each; together they take a twentieth of the collector's time at
//    most.
//  - A watcher that asks all the time takes a twentieth of the collector's time at most: its next answer is delayed
//    accordingly.
//  - The last answer says how the process ended, and where its profile is.
// Context:  the collector's thread, between two drain passes.
// Trust:    requests are hostile: checked field by field.
// Cost:     a sample: top_reader.h. Names: a fork, as a snapshot's (snapshot_taker.h). Nothing without watchers.
#pragma once

#include "cli/collect/top_reader.h"
#include "cli/model/analysis/folding.h"
#include "cli/run/finisher.h"
#include "cli/run/processes.h"
#include "cli/target/server.h"
#include "cli/target/top_wire.h"

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <list>
#include <vector>

namespace heapprof::cli {

class TopDesk {
 public:
  // folds: must outlive this
  TopDesk(FinishOptions options, const FoldRules* folds) : options_(std::move(options)), folds_(*folds) {}
  ~TopDesk();
  TopDesk(const TopDesk&) = delete;
  TopDesk& operator=(const TopDesk&) = delete;

  void set_root(pid_t pid) { root_pid_ = pid; }
  // The first request of a connection. pre: caller.top
  void admit(Caller caller, Server* server, Processes* processes);
  // Appends what becomes readable when serve() has something to do.
  void add_waiting(std::vector<pollfd>* waiting) const;
  void serve(Processes* processes);
  // An image has ended. Its watchers are told how it ended; those of the root are told that its profile is being
  // written.
  void note_end(const EndedImage& image);
  // The run is over; the root's watchers are told. root: nullptr: without a profile
  void end_run(const Finished* root);

 private:
  struct Watcher {
    UniqueFd connection;
    pid_t pid;
    TopCursor cursor;
    uint64_t next_ns = 0;  // it gets no answer before that time
    bool is_told = false;  // that its process has ended: later requests get no answer
  };
  // A client that has asked for totals, and gets one answer.
  struct Asker {
    UniqueFd connection;
    pid_t pid;
  };

  void answer_totals(Processes* processes);
  void answer_sample(Watcher* watcher, Processes* processes);
  void begin_names(const Caller& caller, pid_t of, Server* server, Processes* processes);
  [[noreturn]] void write_names(const Caller& caller, pid_t of, Server* server, Processes* processes) const;
  void reap();

  FinishOptions options_;
  const FoldRules& folds_;
  pid_t root_pid_ = 0;
  std::list<Watcher> watchers_;  // without a connection: to be removed
  std::vector<pid_t> at_work_;
  std::vector<Asker> askers_;
  uint64_t next_totals_ns_ = 0;  // totals are not looked up before that time
};

}  // namespace heapprof::cli
