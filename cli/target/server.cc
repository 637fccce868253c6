// cli/target/server.cc: see server.h.
//
// An agent sends its hello right after it has connected. But in between its process may be stopped, or the client may
// be no agent. The collector's thread must not wait for the hello, because in that time rings would run full and stop
// the programs. So a connection without a hello is put into pending_, and is checked again each time that the loop asks
// for clients.
#include "cli/target/server.h"

#include "cli/base/clock.h"
#include "cli/base/problems.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace heapprof::cli {

namespace {

constexpr int kBacklog = 4096;  // the system may allow fewer (net.core.somaxconn)
constexpr uint64_t kHelloPatienceNs =
    1'000'000'000;  // an agent sends its hello at once, and waits only this long for the answer
constexpr size_t kMostPending = 64;
constexpr uint64_t kCrowdedPatienceNs = 100'000'000;  // the same if all kMostPending places are taken
constexpr uint64_t kPauseNs = 10'000'000;             // before another try if not even the reserve could be used

UniqueFd open_reserve() { return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

// Binds a socket and listens. On failure, returns a closed descriptor and sets errno.
UniqueFd listen_at(const std::string& path, bool is_abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + (is_abstract ? 1 : 0), path.data(), path.size());
  const socklen_t size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return fd;
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return {};
  if (!is_abstract) chmod(path.c_str(), geteuid() == 0 ? 0666 : 0600);  // so that a target that drops root can connect
  if (listen(fd.get(), kBacklog) != 0) return {};
  return fd;
}

std::string choose_path() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<uint64_t>(getpid());
  const char* folder = std::getenv("TMPDIR");
  std::string path =
      fmt::format("{}/heapprof-{:012x}", folder != nullptr && *folder == '/' ? folder : "/tmp", random >> 16);
  if (path.size() + 2 > sizeof(sockaddr_un::sun_path)) path = fmt::format("/tmp/heapprof-{:012x}", random >> 16);
  return path;
}

// The process at the other end. pid is 0 if the process is another user's, or has no pid in our PID namespace.
ucred peer_of(int connection) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {};
  const bool is_ours = geteuid() == 0 || credentials.uid == geteuid() || credentials.uid == 0;
  if (!is_ours || credentials.pid < 0) credentials.pid = 0;
  return credentials;
}

}  // namespace

Result<Server> Server::open() {
  const std::string path = choose_path();
  UniqueFd abstract = listen_at(path, true);
  if (!abstract.is_open()) return socket_refused(path, errno_text(errno));
  UniqueFd named = listen_at(path, false);
  return Server(path, std::move(abstract), std::move(named), open_reserve());
}

Server::~Server() { close(); }

void Server::close() {
  if (named_.is_open()) unlink(path_.c_str());
  named_.reset();
  abstract_.reset();
  pending_.clear();
}

void Server::abandon() {
  named_.reset();
  abstract_.reset();
  pending_.clear();
}

void Server::add_waiting(std::vector<pollfd>* waiting) const {
  if (paused_until_ns_ == 0 && pending_.size() < kMostPending) {
    if (abstract_.is_open()) waiting->push_back({abstract_.get(), POLLIN, 0});
    if (named_.is_open()) waiting->push_back({named_.get(), POLLIN, 0});
  }
  for (const Pending& pending : pending_) waiting->push_back({pending.connection.get(), POLLIN, 0});
}

bool Server::is_asked() const {
  std::vector<pollfd> waiting;
  add_waiting(&waiting);
  return !waiting.empty() && poll(waiting.data(), waiting.size(), 0) > 0;
}

// Closes the reserve, accepts the oldest client in the queue with that free descriptor, and drops it. So an agent
// continues at once, unrecorded. Otherwise it would wait for its full second, and the listener, which stays readable,
// would keep us busy. False: the queue was empty, or no descriptor is free even so.
bool Server::turn_away(int listener) {
  reserve_.reset();
  UniqueFd connection(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const bool is_stuck = !connection.is_open() && errno != EAGAIN;
  if (is_stuck) paused_until_ns_ = monotonic_ns() + kPauseNs;
  if (connection.is_open() && peer_of(connection.get()).pid != 0) ++turned_away_;
  const bool was_anybody = connection.is_open();
  connection.reset();
  reserve_ = open_reserve();
  return was_anybody;
}

// Drops one client that has sent nothing for kCrowdedPatienceNs. A client that has sent something is never dropped.
// False: there is no such client.
bool Server::drop_silent() {
  const uint64_t now_ns = monotonic_ns();
  const auto silent = std::find_if(pending_.begin(), pending_.end(), [now_ns](const Pending& pending) {
    pollfd waiting = {pending.connection.get(), POLLIN, 0};
    return pending.deadline_ns - kHelloPatienceNs + kCrowdedPatienceNs <= now_ns && poll(&waiting, 1, 0) == 0;
  });
  if (silent == pending_.end()) return false;
  pending_.erase(silent);
  return true;
}

void Server::accept_all(int listener) {
  for (;;) {
    if (pending_.size() == kMostPending && !drop_silent()) return;
    UniqueFd connection(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.is_open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return;
      if (!turn_away(listener)) return;
      continue;
    }
    const ucred peer = peer_of(connection.get());
    if (peer.pid != 0)
      pending_.push_back({std::move(connection), peer.pid, peer.uid, monotonic_ns() + kHelloPatienceNs});
  }
}

// Returns the client if its request has come. Otherwise, the connection stays open if the request may still come, and
// is closed if not.
std::optional<Caller> Server::hear(Pending* pending) {
  Caller caller;
  SnapshotRequest packet;  // the largest message that may come
  static_assert(sizeof packet > sizeof caller.hello);
  const ssize_t got = recv(pending->connection.get(), &packet, sizeof packet, MSG_DONTWAIT | MSG_TRUNC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR) && monotonic_ns() < pending->deadline_ns) return std::nullopt;
  UniqueFd connection = std::move(pending->connection);
  caller.uid = pending->uid;
  if (got == static_cast<ssize_t>(sizeof packet) && packet.magic == kSnapshotMagic) {
    caller.snapshot = packet;
    caller.connection = std::move(connection);
    caller.pid = pending->pid;
    return caller;
  }
  if (TopRequest top; got == static_cast<ssize_t>(sizeof top) && packet.magic == kTopMagic) {
    std::memcpy(static_cast<void*>(&top), &packet, sizeof top);
    caller.top = top;
    caller.connection = std::move(connection);
    caller.pid = pending->pid;
    return caller;
  }
  if (Order order; got == static_cast<ssize_t>(sizeof order) && packet.magic == kOrderMagic) {
    std::memcpy(static_cast<void*>(&order), &packet, sizeof order);
    caller.order = order;
    caller.connection = std::move(connection);
    caller.pid = pending->pid;
    return caller;
  }
  // Root's collector also answers agents of other users. Any other user's collector answers only its own user's agents.
  if (got != static_cast<ssize_t>(sizeof caller.hello) || (geteuid() != 0 && caller.uid != geteuid()))
    return std::nullopt;
  std::memcpy(&caller.hello, &packet, sizeof caller.hello);
  wire::Hello& hello = caller.hello;
  for (char* end : {std::end(hello.agent_version), std::end(hello.libc_version), std::end(hello.malloc_object),
                    std::end(hello.new_object)}) {
    end[-1] = 0;
  }
  caller.connection = std::move(connection);
  caller.pid = pending->pid;
  caller.pidfd = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pending->pid, 0)));
  return caller;
}

std::optional<Caller> Server::accept_caller() {
  if (paused_until_ns_ != 0 && monotonic_ns() >= paused_until_ns_) paused_until_ns_ = 0;
  if (paused_until_ns_ == 0) {
    if (abstract_.is_open()) accept_all(abstract_.get());
    if (named_.is_open()) accept_all(named_.get());
  }
  for (auto pending = pending_.begin(); pending != pending_.end();) {
    std::optional<Caller> caller = hear(&*pending);
    pending = pending->connection.is_open() ? std::next(pending) : pending_.erase(pending);
    if (caller) return caller;
  }
  return std::nullopt;
}

bool Server::answer(const Caller& caller, wire::Answer answer, int arena_fd) {
  wire::Welcome welcome{wire::kMagic, wire::kProtocolVersion, answer, 0, wire::kArenaBytes};
  iovec part{&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (arena_fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &arena_fd, sizeof arena_fd);
  }
  return sendmsg(caller.connection.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof welcome);
}

}  // namespace heapprof::cli
