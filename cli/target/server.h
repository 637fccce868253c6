// cli/target/server.h: the socket on which agents ask for an arena, and on which heapprof's other commands send
// requests.
//
// Guarantees
//  - The client's identity comes from the kernel (SO_PEERCRED), never from the agent.
//  - Agents are answered only if they run as our own user, or if we are root. Requests of heapprof's commands are also
//    answered if they come from root. A process without a pid in our PID namespace is not answered: the kernel shows
//    its pid as 0.
//  - No client blocks the server. A client that connects and sends nothing takes one of few places, and is dropped
//    after 1 s. A client that has sent its request is served, even if many others connect.
//  - If no descriptor is free, agents are turned away at once, and counted. The listening sockets never make the
//    caller's poll return all the time.
// Context:  one thread; no call blocks.
// Trust:    a Hello may be hostile: its strings are cut, and its numbers are only reported.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"
#include "cli/target/order_wire.h"
#include "cli/target/snapshot_wire.h"
#include "cli/target/top_wire.h"
#include "shared/wire.h"

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// A client that waits for its answer: an agent, or one of heapprof's commands.
struct Caller {
  UniqueFd connection;
  pid_t pid = 0;  // in our pid namespace
  uid_t uid = 0;
  UniqueFd pidfd;
  wire::Hello hello{};
  std::optional<SnapshotRequest> snapshot;  // set if the client is no agent, but requests a snapshot
  std::optional<TopRequest> top;            // or numbers (`heapprof top`)
  std::optional<Order> order;               // or gives an order
};

class Server {
 public:
  static Result<Server> open();
  Server(Server&&) = default;
  Server& operator=(Server&&) = delete;
  ~Server();

  const std::string& path() const { return path_; }
  // Appends descriptors that become readable when accept_caller() may have a client. All are close-on-exec.
  void add_waiting(std::vector<pollfd>* waiting) const;

  // True if a client may be waiting.
  bool is_asked() const;
  // The next client, if there is one.
  std::optional<Caller> accept_caller();
  // Sends the answer. arena_fd: the arena's descriptor with Answer::kRecord, otherwise -1.
  static bool answer(const Caller& caller, wire::Answer answer, int arena_fd);
  // Stops listening: from now on an agent's connect() fails at once, instead of waiting for an answer.
  void close();
  // Called in a forked copy: closes its copies of the sockets, which stay open in the listening process.
  void abandon();
  // How many agents were turned away because this process, or the machine, had no free descriptor.
  uint64_t turned_away() const { return turned_away_; }

 private:
  struct Pending {
    UniqueFd connection;
    pid_t pid = 0;
    uid_t uid = 0;
    uint64_t deadline_ns = 0;
  };

  Server(std::string path, UniqueFd abstract, UniqueFd named, UniqueFd reserve)
      : path_(std::move(path)),
        abstract_(std::move(abstract)),
        named_(std::move(named)),
        reserve_(std::move(reserve)) {}
  void accept_all(int listener);
  bool drop_silent();
  bool turn_away(int listener);
  std::optional<Caller> hear(Pending* pending);

  std::string path_;
  UniqueFd abstract_;
  UniqueFd named_;               // may be closed: clients use it only if abstract_ is not reachable
  UniqueFd reserve_;             // closed for a moment to accept and drop an agent if no descriptor is free
  std::deque<Pending> pending_;  // connected, no hello yet; oldest first
  uint64_t paused_until_ns_ = 0;
  uint64_t turned_away_ = 0;
};

}  // namespace heapprof::cli
