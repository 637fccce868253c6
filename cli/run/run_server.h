// cli/run/run_server.h: the server of `run --serve`: a separate process, which asks the collector as `heapprof serve`
// does.
//
// Guarantees
//  - The address is bound before the program starts. If that fails, the program is not started.
//  - The server serves only processes of this run. It ends with the run, even if the run is killed.
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

  // If the options name an address, binds it and reads the token.
  Result<Done> open(const RunOptions& options);
  // pre: open() succeeded
  void start(const RunOptions& options, const SignalWatch& signals, Server* server);
  // Tells the server to end, and waits for it, a second at most.
  void close();

 private:
  std::optional<Listener> listener_;
  ServeOptions serve_;
  pid_t pid_ = 0;
};

}  // namespace heapprof::cli
