// cli/target/server.cc: see server.h.
#include "cli/target/server.h"

#include "cli/base/problems.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace heapprof::cli {

namespace {

constexpr int kBacklog = 1024;
constexpr int kHelloPatienceMs = 100;  // an agent sends its hello at once

// Binds and listens. A closed descriptor and errno if it cannot.
UniqueFd listen_at(const std::string& path, bool is_abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + (is_abstract ? 1 : 0), path.data(), path.size());
  const socklen_t size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return fd;
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return {};
  if (!is_abstract) chmod(path.c_str(), geteuid() == 0 ? 0666 : 0600);  // a target that drops root must still reach us
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

std::optional<Caller> accept_from(int listener) {
  UniqueFd connection(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.is_open()) return std::nullopt;
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
  if (geteuid() != 0 && credentials.uid != geteuid()) return std::nullopt;
  pollfd waiting{connection.get(), POLLIN, 0};
  if (poll(&waiting, 1, kHelloPatienceMs) != 1) return std::nullopt;
  Caller caller;
  if (recv(connection.get(), &caller.hello, sizeof caller.hello, 0) != static_cast<ssize_t>(sizeof caller.hello))
    return std::nullopt;
  wire::Hello& hello = caller.hello;
  for (char* end : {std::end(hello.agent_version), std::end(hello.libc_version), std::end(hello.malloc_object),
                    std::end(hello.new_object)}) {
    end[-1] = 0;
  }
  caller.connection = std::move(connection);
  caller.pid = credentials.pid;
  caller.pidfd = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, credentials.pid, 0)));
  return caller;
}

}  // namespace

Result<Server> Server::open() {
  const std::string path = choose_path();
  UniqueFd abstract = listen_at(path, true);
  if (!abstract.is_open()) return socket_refused(path, errno_text(errno));
  UniqueFd named = listen_at(path, false);
  return Server(path, std::move(abstract), std::move(named));
}

Server::~Server() {
  if (named_.is_open()) unlink(path_.c_str());
}

std::optional<Caller> Server::accept_caller() {
  if (std::optional<Caller> caller = accept_from(abstract_.get())) return caller;
  if (named_.is_open()) return accept_from(named_.get());
  return std::nullopt;
}

bool Server::answer(const Caller& caller, wire::Verdict verdict, int arena_fd) {
  wire::Welcome welcome{wire::kMagic, wire::kProtocolVersion, verdict, 0, wire::kArenaBytes};
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
