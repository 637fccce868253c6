// cli/run/explainer.h: answers the program's questions that need names, while it and the collector run on.
//
// Guarantees
//  - The collector goes on as soon as it has forked. Every question that it took is replied to, also where the copy
//    fails, or takes longer than anybody waits; four at a time. A copy lives no longer than the collector.
//  - What one image asked is not answered by the books of the image that replaced it.
//  - Names come from this machine's files: a server that does not answer would keep a test waiting.
// Context:  the collector's thread, between two rounds.
// Cost:     as a snapshot's (snapshot_taker.h), once for each question; nothing while nobody asks.
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

  // Begins what is asked, and takes leave of what is done.
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
