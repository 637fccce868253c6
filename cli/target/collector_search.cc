// cli/target/collector_search.cc: the name of the collector's socket is in the environment that the process was started
// with. If it is not there (env -i, or the pid is that of heapprof itself), all collectors of this machine are asked.
// Their abstract socket names are in /proc/net/unix.
#include "cli/target/collector_search.h"

#include "cli/base/clock.h"
#include "cli/base/problems.h"
#include "cli/target/proc_file.h"
#include "shared/env.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace heapprof::cli {
namespace {

constexpr int kNextAfterMs = 50;

// The path in a variable such as HEAPPROF=+12/tmp/heapprof-…: the part from the slash on. Empty: there is none.
std::string path_in_environment(const std::string& environment) {
  const std::string name = std::string(wire::kSocketVariable) + "=";
  for (size_t at = 0; at < environment.size();) {
    const size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string entry = environment.substr(at, end - at);
    if (entry.starts_with(name) && entry.find('/') != std::string::npos) return entry.substr(entry.find('/'));
    at = end + 1;
  }
  return "";
}

// The process's real user. The owner of /proc/PID is not always that: it is root if the process may not be dumped.
std::optional<uid_t> real_user(pid_t pid) {
  const std::string status = read_proc(pid, "status");
  const size_t at = status.find("\nUid:\t");
  if (at == std::string::npos) return std::nullopt;
  return static_cast<uid_t>(std::strtoul(status.c_str() + at + 6, nullptr, 10));
}

// The user's name, or "#" and its number, as sudo -u takes it.
std::string user_name(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry != nullptr ? entry->pw_name : fmt::format("#{}", user);
}

bool is_trusted(int connection, std::optional<uid_t> user) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (peer.uid == geteuid() || peer.uid == 0) return true;
  return geteuid() == 0 && peer.uid == user.value_or(peer.uid);
}

// Does not wait, even if the listener's queue is full.
UniqueFd connect_to(const std::string& path, bool is_abstract, std::optional<uid_t> user) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() + 2 > sizeof address.sun_path) return {};
  std::memcpy(address.sun_path + (is_abstract ? 1 : 0), path.data(), path.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open() || connect(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return {};
  if (!is_trusted(fd.get(), user)) return {};
  fcntl(fd.get(), F_SETFL, 0);
  return fd;
}

}  // namespace

std::vector<std::string> all_collectors() {
  std::vector<std::string> paths;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const size_t at = line.rfind(" @/");
    if (at == std::string::npos || line.find("/heapprof-", at) == std::string::npos) continue;
    std::string path = line.substr(at + 2);
    while (!path.empty() && path.back() == '@') path.pop_back();  // the kernel shows the zero byte at the end as "@"
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  }
  return paths;
}

bool wait_readable(int connection, int patience_ms) {
  pollfd waiting{connection, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&waiting, 1, patience_ms);
  } while (ready < 0 && errno == EINTR);
  return ready == 1;
}

UniqueFd connect_to_collector(const std::string& path, std::optional<uid_t> user) {
  UniqueFd connection = connect_to(path, true, user);
  return connection.is_open() ? std::move(connection) : connect_to(path, false, user);
}

Asked ask_collectors(const Collectors& collectors, std::string_view request, int patience_ms,
                     const std::function<bool(const std::string& path, UniqueFd connection)>& take) {
  struct One {
    std::string path;
    UniqueFd connection;
  };
  std::vector<One> silent;
  const uint64_t end_ns = monotonic_ns() + static_cast<uint64_t>(patience_ms) * 1'000'000;
  for (size_t next = 0; next < collectors.paths.size() || !silent.empty();) {
    const uint64_t now_ns = monotonic_ns();
    if (now_ns >= end_ns) return Asked::kSilent;
    if (next < collectors.paths.size()) {
      const std::string& path = collectors.paths[next++];
      UniqueFd connection = connect_to_collector(path, collectors.user);
      if (!connection.is_open() || send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) continue;
      silent.push_back({path, std::move(connection)});
    }
    std::vector<pollfd> waiting;
    for (const One& one : silent) waiting.push_back({one.connection.get(), POLLIN, 0});
    const int left_ms = static_cast<int>((end_ns - now_ns) / 1'000'000) + 1;
    poll(waiting.data(), waiting.size(), next < collectors.paths.size() ? std::min(kNextAfterMs, left_ms) : left_ms);
    for (size_t i = waiting.size(); i-- > 0;) {
      if (waiting[i].revents == 0) continue;
      One one = std::move(silent[i]);
      silent.erase(silent.begin() + static_cast<ptrdiff_t>(i));
      if (take(one.path, std::move(one.connection))) return Asked::kTaken;
    }
  }
  return Asked::kUnknown;
}

Result<Collectors> find_collectors(pid_t pid, const std::string& command) {
  const std::string shown = std::to_string(pid);
  const std::string folder = fmt::format("/proc/{}", pid);
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0) return process_not_found(shown);
  const UniqueFd environ(open((folder + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  // If a process of our own user hides its environment (setuid, prctl), all collectors are asked.
  if (!environ.is_open() && errno == EACCES && geteuid() != 0 && facts.st_uid != geteuid())
    return process_not_ours(shown, user_name(facts.st_uid), command);
  std::string environment;
  char buffer[4096];
  for (ssize_t got; environ.is_open() && (got = read(environ.get(), buffer, sizeof buffer)) > 0;)
    environment.append(buffer, static_cast<size_t>(got));
  const std::string own = path_in_environment(environment);
  const uid_t user = real_user(pid).value_or(facts.st_uid);
  return own.empty() ? Collectors{all_collectors(), user, false} : Collectors{{own}, user, true};
}

}  // namespace heapprof::cli
