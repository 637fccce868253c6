// cli/target/top_client.h: asks the collector of a process for its numbers, again and again.
//
// Guarantees
//  - Only open() waits: the caller sends a request, goes on, and takes the answer when fd() is readable.
// Trust:    answers are checked for their size and version; their bytes by cli/model/top/top_sample.h.
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
  pid_t pid = 0;  // the process that was meant, where the pid of its heapprof was given
  uint64_t image = 0;
  std::string bytes;
  std::string text;  // why it is refused
};

// Nothing: the connection has ended, or it holds no answer of this version.
std::optional<TopReply> take_top_reply(int connection);

class TopClient {
 public:
  // Finds the run that the process belongs to; waits five seconds for its first sample.
  static Result<std::pair<TopClient, TopReply>> open(pid_t pid);

  int fd() const { return connection_.get(); }
  // False: the collector is gone.
  bool ask_sample(bool from_begin);
  // A separate connection, on which the names will come; closed if the collector does not listen.
  UniqueFd ask_names() const;

 private:
  TopClient(std::string path, UniqueFd connection, pid_t pid)
      : path_(std::move(path)), connection_(std::move(connection)), pid_(pid) {}

  std::string path_;
  UniqueFd connection_;
  pid_t pid_;
};

// Devices and scopes of a process as of now, without sites: one question, one answer.
Result<TopReply> ask_totals(pid_t pid, int patience_ms);

// The processes of those of these collectors that answer in time; ascending.
std::vector<pid_t> list_profiled_processes(const std::vector<std::string>& collectors, int patience_ms);

}  // namespace heapprof::cli
