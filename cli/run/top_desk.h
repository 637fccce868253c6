// cli/run/top_desk.h: answers whoever watches a process of the run live (`heapprof top`, `run --live`).
//
// Guarantees
//  - Only our own user, and root, are served; four watchers at a time, and two copies that look for names.
//  - Nobody is waited for: an answer that finds no room, or a watcher that asks again before it has read the last one,
//    costs it its connection. One that is stopped costs nothing.
//  - Totals are told to sixteen askers at a time, each once; together they take a twentieth of the collector's time at
//    most.
//  - A watcher that asks all the time takes a twentieth of the collector's time at most: its next answer waits for so
//    long.
//  - The last answer says what the process came to, and where its profile is.
// Context:  the collector's thread, between two rounds.
// Trust:    requests are hostile: checked field by field.
// Cost:     a sample: top_reader.h. Names: a fork, as a snapshot's (snapshot_taker.h). Nothing while nobody watches.
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
  // An image has ended; its watchers are told what it came to, those of the root that its profile is being written.
  void note_end(const EndedImage& image);
  // The run is over; the root's watchers are told. root: nullptr: it has no profile
  void end_run(const Finished* root);

 private:
  struct Watcher {
    UniqueFd connection;
    pid_t pid;
    TopCursor cursor;
    uint64_t next_ns = 0;  // it is not answered before
    bool is_told = false;  // that its process has ended: what it asked before it read that has no answer
  };
  // Who has asked for totals, and gets one answer.
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
  std::list<Watcher> watchers_;  // without a connection: to be taken off
  std::vector<pid_t> at_work_;
  std::vector<Asker> askers_;
  uint64_t next_totals_ns_ = 0;  // totals are not looked up before, whoever asks
};

}  // namespace heapprof::cli
