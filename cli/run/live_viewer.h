// cli/run/live_viewer.h: the view of `run --live`: a process of its own, which watches the program through the
// collector as any `heapprof top` does.
//
// Guarantees
//  - The terminal is its own until close() has come back.
// Context:  start() before the collector has threads.
#pragma once

#include "cli/run/run.h"
#include "cli/run/signals.h"
#include "cli/target/server.h"

#include <sys/types.h>

namespace heapprof::cli {

class LiveViewer {
 public:
  LiveViewer() = default;
  ~LiveViewer() { close(); }
  LiveViewer(const LiveViewer&) = delete;
  LiveViewer& operator=(const LiveViewer&) = delete;

  void start(pid_t program, const RunOptions& options, const SignalWatch& signals, Server* server);
  // Waits until it has gone, which it does when the program has ended; a second at most, then it is told to.
  void close();

 private:
  pid_t pid_ = 0;
};

}  // namespace heapprof::cli
