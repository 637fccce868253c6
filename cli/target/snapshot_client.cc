// cli/target/snapshot_client.cc: the socket's name stands in the environment that the process was started with. Where
// it does not (env -i, or the pid of heapprof itself), every collector of this machine is asked: their abstract names
// are in /proc/net/unix.
#include "cli/target/snapshot_client.h"

#include "cli/base/fd.h"
#include "cli/base/problems.h"
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
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr int kPatienceMs = 5000;

// Of HEAPPROF=+12/tmp/heapprof-…: what begins with the slash. Empty: there is none.
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

std::vector<std::string> all_collectors() {
  std::vector<std::string> paths;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const size_t at = line.rfind(" @/");
    if (at == std::string::npos || line.find("/heapprof-", at) == std::string::npos) continue;
    std::string path = line.substr(at + 2);
    while (!path.empty() && path.back() == '@') path.pop_back();  // how the kernel shows the zero byte at the end
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  }
  return paths;
}

UniqueFd connect_to(const std::string& path, bool is_abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() + 2 > sizeof address.sun_path) return {};
  std::memcpy(address.sun_path + (is_abstract ? 1 : 0), path.data(), path.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.is_open() || connect(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return {};
  return fd;
}

// Nothing if the connection ended, or no answer came in time (-1: there is no limit).
std::optional<SnapshotAnswer> hear(int connection, int patience_ms) {
  pollfd waiting{connection, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&waiting, 1, patience_ms);
  } while (ready < 0 && errno == EINTR);
  SnapshotAnswer answer;
  if (ready != 1 || recv(connection, &answer, sizeof answer, 0) != static_cast<ssize_t>(sizeof answer))
    return std::nullopt;
  answer.text[sizeof answer.text - 1] = 0;
  return answer;
}

// As sudo -u takes it.
std::string user_name(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry != nullptr ? entry->pw_name : fmt::format("#{}", user);
}

}  // namespace

Result<SnapshotTaken> ask_for_snapshot(pid_t pid, const std::string& path, bool may_overwrite) {
  const std::string shown = std::to_string(pid);
  const std::string folder = fmt::format("/proc/{}", pid);
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0) return process_not_found(shown);
  const UniqueFd environ(open((folder + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  // A process that hides its environment (setuid, prctl) is asked for at every run of this user.
  if (!environ.is_open() && errno == EACCES && geteuid() != 0 && facts.st_uid != geteuid())
    return process_not_ours(shown, user_name(facts.st_uid));
  std::string environment;
  char buffer[4096];
  for (ssize_t got; environ.is_open() && (got = read(environ.get(), buffer, sizeof buffer)) > 0;)
    environment.append(buffer, static_cast<size_t>(got));
  std::vector<std::string> collectors = {path_in_environment(environment)};
  if (collectors[0].empty()) collectors = all_collectors();

  SnapshotRequest request;
  request.pid = pid;
  request.may_overwrite = may_overwrite ? 1 : 0;
  if (path.size() >= sizeof request.path) return output_not_writable(path, errno_text(ENAMETOOLONG));
  std::memcpy(request.path, path.data(), path.size());
  for (const std::string& collector : collectors) {
    UniqueFd connection = connect_to(collector, true);
    if (!connection.is_open()) connection = connect_to(collector, false);
    if (!connection.is_open()) continue;
    if (send(connection.get(), &request, sizeof request, MSG_NOSIGNAL) < 0) continue;
    std::optional<SnapshotAnswer> answer = hear(connection.get(), kPatienceMs);
    if (!answer) {
      if (collectors.size() == 1) return nobody_answers(shown);
      continue;
    }
    if (answer->status == SnapshotStatus::kUnknown) continue;
    if (answer->status == SnapshotStatus::kWorking) {
      answer = hear(connection.get(), -1);
      if (!answer) return snapshot_refused(shown, "whoever wrote it has died, for lack of memory perhaps");
    }
    if (answer->status != SnapshotStatus::kWritten) return snapshot_refused(shown, answer->text);
    const std::string devices(answer->devices, strnlen(answer->devices, sizeof answer->devices));
    return SnapshotTaken{answer->text, answer->size_bytes, answer->live_bytes, answer->peak_bytes, devices};
  }
  return process_not_profiled(shown);
}

}  // namespace heapprof::cli
