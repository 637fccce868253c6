// cli/run/explainer.h: answers the program's questions that need names. The program and the collector run on.
//
// Guarantees
//  - The collector goes on as soon as it has forked. Every question that it took gets a reply, also if the copy fails,
//    or takes longer than the program waits; four at a time. A copy lives no longer than the collector.
//  - A question of one image is never answered from the books of the image that replaced it.
//  - Names come from this machine's files only: a server that does not answer would block a test.
// Context:  the collector's thread, between two drain passes.
// Cost:     as a snapshot's (snapshot_taker.h), for each question; nothing without questions.
#pragma once

#include "cli/collect/questions.h"
#include "cli/run/finisher.h"
#include "cli/run/processes.h"
#include "cli/target/server.h"

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <vector>

namespace heapprof::cli {

class Explainer {
 public:
  explicit Explainer(FinishOptions options) : options_(std::move(options)) {}
  ~Explainer();
  Explainer(const Explainer&) = delete;
  Explainer& operator=(const Explainer&) = delete;

  // Starts work on new questions, and reaps finished copies.
  void serve(Server* server, Processes* processes);

 private:
  struct Asked {
    uint64_t image;  // ProcessCollector::serial()
    NamesWanted wanted;
  };
  struct Work {
    pid_t writer;
    Asked asked;
    uint64_t begin_ns;
  };

  void begin(const Asked& asked, Server* server, Processes* processes);
  [[noreturn]] void write(const Asked& asked, Server* server, ProcessCollector* collector) const;
  void reap(Processes* processes);

  FinishOptions options_;
  std::deque<Asked> asked_;
  std::vector<Work> at_work_;
};

}  // namespace heapprof::cli
