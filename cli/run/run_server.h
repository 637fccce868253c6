// cli/run/run_server.h: the server of `run --serve`: a process of its own, which asks the collector as any `heapprof
// serve` does.
//
// Guarantees
//  - The address is taken before the program starts, so one that cannot be had ends the run before it begins.
//  - It serves the processes of this run alone, and ends with it, however that ends.
// Context:  start() before the collector has threads.
#pragma once

#include "cli/run/run.h"
#include "cli/run/signals.h"
#include "cli/serve/listen_address.h"
#include "cli/serve/serve.h"
#include "cli/target/server.h"

#include <sys/types.h>

#include <optional>

namespace heapprof::cli {

class RunServer {
 public:
  RunServer() = default;
  ~RunServer() { close(); }
  RunServer(const RunServer&) = delete;
  RunServer& operator=(const RunServer&) = delete;

  // Takes the address and the token that the options name, if they do.
  Result<Done> open(const RunOptions& options);
  // pre: open() was well
  void start(const RunOptions& options, const SignalWatch& signals, Server* server);
  // It is told to end, and waited for; a second at most.
  void close();

 private:
  std::optional<Listener> listener_;
  ServeOptions serve_;
  pid_t pid_ = 0;
};

}  // namespace heapprof::cli
