// cli/target/top_client.h: requests a process's numbers from its collector, repeatedly.
//
// Guarantees
//  - In TopClient, only open() waits for an answer. The caller sends a request, continues, and takes the answer when
//    fd() is readable.
// Trust:    the size and version of answers are checked here, their content in cli/model/top/top_sample.h.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"
#include "cli/target/top_wire.h"

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

struct TopReply {
  TopStatus status = TopStatus::kRefused;
  pid_t pid = 0;  // the process; if the pid of a heapprof was given, its program
  uint64_t image = 0;
  std::string bytes;
  std::string text;  // why the request is refused
};

// Receives one answer. nullopt: the connection has ended, or the message is no answer of this version.
std::optional<TopReply> take_top_reply(int connection);

class TopClient {
 public:
  // Finds the run that the process belongs to; waits five seconds for its first sample.
  static Result<std::pair<TopClient, TopReply>> open(pid_t pid);

  int fd() const { return connection_.get(); }
  // False: the collector is gone.
  bool ask_sample(bool from_begin);
  // Requests names on a separate connection, and returns it; closed if the collector does not listen.
  UniqueFd ask_names() const;

 private:
  TopClient(std::string path, UniqueFd connection, pid_t pid)
      : path_(std::move(path)), connection_(std::move(connection)), pid_(pid) {}

  std::string path_;
  UniqueFd connection_;
  pid_t pid_;
};

// Gets a process's devices and scopes as they are now, without sites.
Result<TopReply> ask_totals(pid_t pid, int patience_ms);

// The processes that these collectors profile, in ascending order. Collectors that do not answer in time are skipped.
std::vector<pid_t> list_profiled_processes(const std::vector<std::string>& collectors, int patience_ms);

}  // namespace heapprof::cli
