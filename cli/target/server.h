// cli/target/server.h: the socket on which agents ask for an arena.
//
// Guarantees
//  - Who asks is known from the kernel (SO_PEERCRED), never from the agent.
//  - Only processes of our own user are answered (of any user, if we are root).
// Context:  one thread; nothing blocks.
// Trust:    a Hello is hostile: strings are cut, numbers are only reported.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"
#include "shared/wire.h"

#include <sys/types.h>

#include <optional>
#include <string>

namespace heapprof::cli {

// An agent that waits for its answer.
struct Caller {
  UniqueFd connection;
  pid_t pid = 0;  // in our pid namespace
  UniqueFd pidfd;
  wire::Hello hello{};
};

class Server {
 public:
  static Result<Server> open();
  Server(Server&&) = default;
  Server& operator=(Server&&) = delete;
  ~Server();

  const std::string& path() const { return path_; }
  // Become readable when somebody asks; close-on-exec.
  int abstract_fd() const { return abstract_.get(); }
  int path_fd() const { return named_.get(); }

  // The next one who asks, if there is one.
  std::optional<Caller> accept_caller();
  // Answers. arena_fd: goes with Verdict::kRecord, else -1.
  static bool answer(const Caller& caller, wire::Verdict verdict, int arena_fd);

 private:
  Server(std::string path, UniqueFd abstract, UniqueFd named)
      : path_(std::move(path)), abstract_(std::move(abstract)), named_(std::move(named)) {}

  std::string path_;
  UniqueFd abstract_;
  UniqueFd named_;  // may be closed: a path that cannot be bound is only the second way
};

}  // namespace heapprof::cli
