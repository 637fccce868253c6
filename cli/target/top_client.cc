// cli/target/top_client.cc: an answer is a message of fixed size, and its data comes with it as a memfd. The message
// must be received before the next request is sent, otherwise the collector takes the client for one that does not
// read.
#include "cli/target/top_client.h"

#include "cli/base/clock.h"
#include "cli/base/problems.h"
#include "cli/model/top/top_sample.h"
#include "cli/target/collector_search.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint64_t kMostBytes = 1ull << 30;

// The file's bytes; nullopt if its size is not size_bytes.
std::optional<std::string> read_file(int fd, uint64_t size_bytes) {
  struct stat facts {};
  if (size_bytes > kMostBytes || fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) ||
      static_cast<uint64_t>(facts.st_size) != size_bytes)
    return std::nullopt;
  std::string bytes(size_bytes, '\0');
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t got = pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    at += static_cast<size_t>(got);
  }
  return bytes;
}

bool send_request(int connection, const TopRequest& request) {
  return send(connection, &request, sizeof request, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof request);
}

}  // namespace

std::optional<TopReply> take_top_reply(int connection) {
  TopAnswer answer;
  iovec part{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = 0;
  // If the collector closed its end with an unread request, the kernel reports ECONNRESET once, before it delivers the
  // answers that were sent earlier.
  bool was_reset = false;
  do {
    got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(was_reset, true))));
  UniqueFd file;
  if (const cmsghdr* header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
      header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    file = UniqueFd(fd);
  }
  if (got != static_cast<ssize_t>(sizeof answer) || answer.magic != kTopMagic || answer.version != kTopVersion)
    return std::nullopt;
  TopReply reply{answer.status, answer.pid, answer.image, {}, {}};
  reply.text.assign(answer.text, strnlen(answer.text, sizeof answer.text));
  if (answer.size_bytes == 0) return reply;
  if (!file.is_open()) return std::nullopt;
  std::optional<std::string> bytes = read_file(file.get(), answer.size_bytes);
  if (!bytes) return std::nullopt;
  reply.bytes = std::move(*bytes);
  return reply;
}

namespace {

struct Opened {
  std::string path;
  UniqueFd connection;
  TopReply reply;
};

// Sends the request to the collectors until one knows the process; returns its answer and connection.
Result<Opened> ask(pid_t pid, TopAsk what, int patience_ms) {
  const std::string shown = std::to_string(pid);
  const Result<Collectors> collectors = find_collectors(pid, "top");
  if (!collectors) return collectors.problem();
  TopRequest request;
  request.pid = pid;
  request.ask = what;
  std::optional<Opened> opened;
  bool has_left = false;
  const std::string_view sent(reinterpret_cast<const char*>(&request), sizeof request);
  const Asked asked = ask_collectors(*collectors, sent, patience_ms, [&](const std::string& path, UniqueFd from) {
    std::optional<TopReply> reply = take_top_reply(from.get());
    has_left = !reply;
    if (!reply || reply->status == TopStatus::kUnknown) return false;
    opened = Opened{path, std::move(from), std::move(*reply)};
    return true;
  });
  if (asked != Asked::kTaken && collectors->is_own) {
    if (has_left) return top_refused(shown, "its heapprof is of another version, or has just ended");
    if (asked == Asked::kSilent) return nobody_answers(shown);
  }
  if (!opened) return process_not_profiled(shown);
  if (opened->reply.status == TopStatus::kRefused) return top_refused(shown, opened->reply.text);
  return std::move(*opened);
}

}  // namespace

Result<std::pair<TopClient, TopReply>> TopClient::open(pid_t pid) {
  Result<Opened> opened = ask(pid, TopAsk::kSample, kCollectorPatienceMs);
  if (!opened) return opened.problem();
  const pid_t of = opened->reply.pid;
  return std::pair(TopClient(std::move(opened->path), std::move(opened->connection), of), std::move(opened->reply));
}

Result<TopReply> ask_totals(pid_t pid, int patience_ms) {
  Result<Opened> opened = ask(pid, TopAsk::kTotals, patience_ms);
  if (!opened) return opened.problem();
  return std::move(opened->reply);
}

std::vector<pid_t> list_profiled_processes(const std::vector<std::string>& collectors, int patience_ms) {
  TopRequest request;
  request.ask = TopAsk::kProcesses;
  std::vector<UniqueFd> asked;  // all are asked at once, so that stopped ones are waited for together
  for (const std::string& collector : collectors) {
    UniqueFd connection = connect_to_collector(collector);
    if (connection.is_open() && send_request(connection.get(), request)) asked.push_back(std::move(connection));
  }
  const uint64_t end_ns = monotonic_ns() + static_cast<uint64_t>(patience_ms) * 1'000'000;
  std::vector<pid_t> pids;
  for (const UniqueFd& connection : asked) {
    const uint64_t now_ns = monotonic_ns();
    if (!wait_readable(connection.get(), now_ns < end_ns ? static_cast<int>((end_ns - now_ns) / 1'000'000) : 0))
      continue;
    const std::optional<TopReply> reply = take_top_reply(connection.get());
    if (!reply || reply->status != TopStatus::kProcesses) continue;
    const std::optional<TopProcesses> told = parse_top_processes(reply->bytes);
    if (!told) continue;
    for (const uint32_t pid : told->pids) pids.push_back(static_cast<pid_t>(pid));
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

bool TopClient::ask_sample(bool from_begin) {
  TopRequest request;
  request.pid = pid_;
  request.from_begin = from_begin ? 1 : 0;
  return send_request(connection_.get(), request);
}

UniqueFd TopClient::ask_names() const {
  TopRequest request;
  request.pid = pid_;
  request.ask = TopAsk::kNames;
  UniqueFd connection = connect_to_collector(path_);
  return connection.is_open() && send_request(connection.get(), request) ? std::move(connection) : UniqueFd();
}

}  // namespace heapprof::cli
