// cli/serve/worker.h: does work that may take long, or that reads hostile bytes, in separate processes.
//
// Guarantees
//  - The server's loop does not wait for workers. A worker's memory is freed when it ends. If a worker crashes or takes
//    too long, only its own answer is lost.
//  - A few workers run at a time. Other work waits for its turn; if too much waits, more is refused.
// Context:  one thread. Workers are forked, so they cannot change the server's state.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/base/fd.h"

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <vector>

namespace heapprof::cli {

// The result.
struct WorkDone {
  int status = 500;  // of HTTP; 500: the worker died or took too long
  UniqueFd file;     // what it wrote
  uint64_t size_bytes = 0;
};

struct Work {
  // Called in the worker: writes the result, returns the status.
  std::function<int(ByteSink*)> make;
  std::vector<int> descriptors;  // those that the worker needs; it closes all others
  // Called in the server, once.
  std::function<void(WorkDone)> done;
  uint64_t patience_ns = 60'000'000'000;
};

class Workers {
 public:
  Workers() = default;
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False: too much work is waiting.
  bool start(Work work);
  void add_waiting(std::vector<pollfd>* waiting) const;
  // Takes finished results, ends workers that take too long, starts waiting work.
  void serve();

 private:
  struct Running {
    pid_t pid;
    UniqueFd words;
    UniqueFd file;
    uint64_t deadline_ns;
    std::function<void(WorkDone)> done;
  };
  void fork_next();
  static WorkDone take(Running* running, bool is_late);

  std::deque<Work> waiting_;
  std::list<Running> running_;
};

}  // namespace heapprof::cli
