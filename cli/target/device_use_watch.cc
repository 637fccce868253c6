// cli/target/device_use_watch.cc: a call of NVML can hang, so a separate program calls it.
//
// If the driver has a problem, the calling process may hang in the kernel, where not even SIGKILL ends it. If the
// collector hung, every profiled process would stop. So a helper makes the calls. The collector writes to it and reads
// from it without waiting, and abandons a helper that hangs.
//
// The helper is spawned with every signal at its default. It is in its own process group, so that Ctrl-C at the
// terminal reaches the program but not the helper. The helper ends when our end of the socket is closed, which the
// kernel does even if we are killed.
#include "cli/target/device_use_watch.h"

#include "cli/base/problems.h"
#include "cli/target/helper_process.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

namespace heapprof::cli {
namespace {

constexpr size_t kLongestLine = 1024;

// Parses "NAME NUMBER".
bool parse_amount(std::string_view words, std::string_view* name, uint64_t* number) {
  const size_t space = words.find(' ');
  if (space == std::string_view::npos) return false;
  *name = words.substr(0, space);
  const std::string_view digits = words.substr(space + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *number);
  return error == std::errc() && end == digits.data() + digits.size();
}

}  // namespace

DeviceUseWatch::~DeviceUseWatch() { stop(); }

void DeviceUseWatch::start() {
  if (helper_.empty()) {
    missing_ = "heapprof-nvml is not installed beside the agent";
    return;
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    missing_ = errno_text(errno);
    return;
  }
  socket_ = UniqueFd(ends[0]);
  const UniqueFd helpers_end(ends[1]);
  const int error = start_helper(helper_, {}, helpers_end, &pid_);
  if (error == 0) return;
  pid_ = 0;
  missing_ = "heapprof-nvml: " + errno_text(error);
  stop();
}

// A helper that hangs in the driver may not die at once, so this does not wait for it.
void DeviceUseWatch::stop() {
  socket_.reset();
  if (pid_ == 0) return;
  end_helper(pid_);
  pid_ = 0;
  uuids_.clear();
  text_.clear();  // so that the next helper begins with empty state
  sample_ = {};
}

std::string DeviceUseWatch::missing(const std::string& uuid) const {
  const auto unknown = unknown_.find(uuid);
  return missing_.empty() && unknown != unknown_.end() ? unknown->second : missing_;
}

void DeviceUseWatch::look_at(const std::string& uuid) {
  if (!missing_.empty() || uuid.find('\n') != std::string::npos || uuids_.count(uuid) != 0) return;
  if (pid_ == 0) start();
  if (pid_ == 0) return;
  uuids_.insert(uuid);
  const std::string line = uuid + "\n";
  // Errors are ignored: if the helper hangs or has ended, take() notices.
  send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// A helper whose input ends at once initialises NVML, says whether that worked, and ends.
std::string DeviceUseWatch::try_nvml(int patience_ms) {
  start();
  if (pid_ == 0) return missing_;
  shutdown(socket_.get(), SHUT_WR);
  pollfd answer{socket_.get(), POLLIN, 0};
  while (pid_ != 0) {
    const int ready = poll(&answer, 1, patience_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return "NVML does not answer";
    read_output();
  }
  return is_ready_ ? "" : missing_;
}

void DeviceUseWatch::take_line(const std::string& line) {
  const std::string_view words = line;
  std::string_view name;
  uint64_t number = 0;
  if (words == "ready") {
    is_ready_ = true;
  } else if (words.starts_with("missing ")) {
    missing_ = words.substr(8);
  } else if (words.starts_with("unknown ")) {
    const size_t space = std::min(words.find(' ', 8), words.size());
    unknown_[line.substr(8, space - 8)] = words.substr(std::min(space + 1, words.size()));
  } else if (words.starts_with("device ") && parse_amount(words.substr(7), &name, &number)) {
    sample_ = {std::string(name), number, {}};
  } else if (words.starts_with("process ") && parse_amount(words.substr(8), &name, &number)) {
    pid_t pid = 0;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    if (pid > 0) sample_.processes[pid] = number;
  } else if (words == "end" && uuids_.count(sample_.uuid) != 0) {
    samples_.push_back(std::move(sample_));
    sample_ = {};
  }
}

void DeviceUseWatch::read_output() {
  char bytes[4096];
  for (;;) {
    const ssize_t got = recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      if (missing_.empty()) missing_ = "heapprof-nvml has ended";
      return stop();
    }
    text_.append(bytes, static_cast<size_t>(got));
    size_t start = 0;
    for (size_t end; (end = text_.find('\n', start)) != std::string::npos; start = end + 1)
      take_line(text_.substr(start, end - start));
    text_.erase(0, start);
    if (text_.size() > kLongestLine) text_.clear();
  }
}

std::vector<DeviceUseSample> DeviceUseWatch::take() {
  if (pid_ != 0) read_output();
  return std::exchange(samples_, {});
}

}  // namespace heapprof::cli
