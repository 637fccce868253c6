// cli/target/server.h: the socket on which agents ask for an arena.
//
// Guarantees
//  - The client's identity comes from the kernel (SO_PEERCRED), never from the agent.
//  - Only processes of our own user are answered (of any user, if we are root), and only those that have a pid here:
//    one that our pid namespace does not show has pid 0.
//  - No client blocks the server: one that connects and sends no hello keeps a place, one of few, and is dropped after
//    1 s. A client that has sent its request is served, however many others ask.
//  - If no descriptor is left, agents are turned away at once, and counted; the listeners never keep the caller's poll
//    awake.
// Context:  one thread; nothing blocks.
// Trust:    a Hello is hostile: strings are cut, numbers are only reported.
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

// An agent that waits for its answer.
struct Caller {
  UniqueFd connection;
  pid_t pid = 0;  // in our pid namespace
  uid_t uid = 0;
  UniqueFd pidfd;
  wire::Hello hello{};
  std::optional<SnapshotRequest> snapshot;  // the client is no agent, but wants a profile
  std::optional<TopRequest> top;            // or to watch
  std::optional<Order> order;               // or something done
};

class Server {
 public:
  static Result<Server> open();
  Server(Server&&) = default;
  Server& operator=(Server&&) = delete;
  ~Server();

  const std::string& path() const { return path_; }
  // Appends what becomes readable when accept_caller() may have a client; all close-on-exec.
  void add_waiting(std::vector<pollfd>* waiting) const;

  // A client may be waiting.
  bool is_asked() const;
  // The next client, if there is one.
  std::optional<Caller> accept_caller();
  // Sends the answer. arena_fd goes with Answer::kRecord; otherwise it is -1.
  static bool answer(const Caller& caller, wire::Answer answer, int arena_fd);
  // Stops listening: from now on an agent's connect() fails at once, instead of waiting for an answer.
  void close();
  // Called in a forked copy: gives up the sockets, which stay open in the process that listens.
  void abandon();
  // Agents sent away because this process, or the machine, had no descriptor left.
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
  UniqueFd named_;               // may be closed: a path that cannot be bound is only the second way
  UniqueFd reserve_;             // given up for a moment to turn agents away when no descriptor is left
  std::deque<Pending> pending_;  // connected, no hello yet; oldest first
  uint64_t paused_until_ns_ = 0;
  uint64_t turned_away_ = 0;
};

}  // namespace heapprof::cli
