// cli/run/run_server.h: the server of `run --serve`: a separate process, which asks the collector as `heapprof serve`
// does.
//
// Guarantees
//  - The address is bound before the program starts: if that fails, the run ends before it begins.
//  - It serves the processes of this run alone, and ends with the run, however that ends.
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

  // Binds the address and reads the token, if the options name them.
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
