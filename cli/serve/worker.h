// cli/serve/worker.h: work that may take long, or may meet hostile bytes, in a process of its own.
//
// Guarantees
//  - The server's loop goes on meanwhile; what a worker takes of memory ends with it, and one that crashes or takes too
//    long costs its own answer.
//  - A few work at a time; others wait for their turn, and beyond a bound are refused.
// Context:  one thread; workers are forked, so nothing of the server's may be changed by them.
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

// What came of it.
struct WorkDone {
  int status = 500;  // as of HTTP; 500: it died, or took too long
  UniqueFd file;     // what it wrote
  uint64_t size_bytes = 0;
};

struct Work {
  // In the worker: writes what it makes, returns the status.
  std::function<int(ByteSink*)> make;
  std::vector<int> descriptors;  // that it needs besides; of all others it lets go
  // In the server, once.
  std::function<void(WorkDone)> done;
  uint64_t patience_ns = 60'000'000'000;
};

class Workers {
 public:
  Workers() = default;
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False: too many wait.
  bool start(Work work);
  void add_waiting(std::vector<pollfd>* waiting) const;
  // Takes what is done, ends what takes too long, starts what waits.
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
