// cli/run/top_service.h: serves the subscribers that watch a process of the run live (`heapprof top`, `run --live`).
//
// Guarantees
//  - Only our own user and root are served. At most four watchers are served at a time, and at most two forked copies
//    look up names.
//  - The collector waits for no watcher. If an answer does not fit into the socket, or a watcher asks again before it
//    has read the last answer, its connection is closed. A stopped watcher costs nothing.
//  - At most sixteen clients wait for totals at a time, and each gets one answer. All of them together take at most a
//    twentieth of the collector's time.
//  - Each watcher takes at most a twentieth of the collector's time: if it asks too often, its next answer is delayed.
//  - The last answer says how the process ended, and where its profile is.
// Context:  the collector's thread, between two drain passes.
// Trust:    requests may be hostile; every field is checked.
// Cost:     for a sample: see top_reader.h. For names: a fork, as for a snapshot (snapshot_taker.h). Without watchers:
//           nothing.
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

class TopService {
 public:
  // folds: must outlive this
  TopService(FinishOptions options, const FoldRules* folds) : options_(std::move(options)), folds_(*folds) {}
  ~TopService();
  TopService(const TopService&) = delete;
  TopService& operator=(const TopService&) = delete;

  void set_root(pid_t pid) { root_pid_ = pid; }
  // The first request of a connection. pre: caller.top
  void admit(Caller caller, Server* server, Processes* processes);
  // Appends descriptors that become readable when serve() has something to do.
  void add_waiting(std::vector<pollfd>* waiting) const;
  void serve(Processes* processes);
  // Called when an image has ended. Its watchers are sent how it ended; watchers of the root are sent that its profile
  // is being written.
  void note_end(const EndedImage& image);
  // Called when the run is over: sends the root's watchers the end, with the profile's path. root: nullptr if there is
  // no profile.
  void end_run(const Finished* root);

 private:
  struct Watcher {
    UniqueFd connection;
    pid_t pid;
    TopCursor cursor;
    uint64_t next_ns = 0;  // it gets no answer before that time
    bool is_told = false;  // it knows that its process has ended: no more answers
  };
  // A client that has asked for totals, and will get one answer.
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
  std::list<Watcher> watchers_;  // those without a connection are to be removed
  std::vector<pid_t> at_work_;
  std::vector<Asker> askers_;
  uint64_t next_totals_ns_ = 0;  // no totals before that time
};

}  // namespace heapprof::cli
