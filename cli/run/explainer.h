// cli/run/explainer.h: answers the program's question which code allocated the memory that one of its measurements
// found (explanation.h). The answer needs names, so a forked copy makes it, while the program and the collector run on.
//
// Guarantees
//  - The collector continues as soon as it has forked the copy. Every question that it took gets a reply, even if the
//    copy fails or takes longer than the program waits. At most four copies run at a time. A copy ends with the
//    collector at the latest.
//  - A question that one program image asked is never answered with the data of the image that replaced it.
//  - Names come only from this machine's files, because a debuginfod server that does not answer would block a test.
// Context:  the collector's thread, between two drain passes.
// Cost:     for each question, that of a snapshot (snapshot_taker.h); nothing without questions.
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
