// cli/run/live_viewer.h: the view of `run --live`: a separate process, which watches the program through the collector
// as `heapprof top` does.
//
// Guarantees
//  - The terminal belongs to the view until close() has returned.
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
  // Waits for the view, which ends when the program has ended. If it has not ended after a second, sends it SIGTERM.
  void close();

 private:
  pid_t pid_ = 0;
};

}  // namespace heapprof::cli
