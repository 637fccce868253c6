// cli/base/byte_sink.cc: one system call per 256 KiB, so that writers may pass single characters.
#include "cli/base/byte_sink.h"

#include "cli/base/problems.h"
#include "cli/base/wait_for_others.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace heapprof::cli {
namespace {
constexpr size_t kGatheredBytes = 256 << 10;
}

void wait_for_others(int fd, int timeout_ms) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigdelset(&mask, number);
  pollfd waiting{fd, POLLOUT, 0};
  const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  ::ppoll(&waiting, fd < 0 ? 0 : 1, timeout_ms < 0 ? nullptr : &timeout, &mask);
}

// A pipe that poll() reports as writable has room for PIPE_BUF bytes, and takes them without blocking.
int write_fully(int fd, std::string_view bytes) {
  struct stat facts {};
  const bool is_file = ::fstat(fd, &facts) == 0 && (S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode));
  while (!bytes.empty()) {
    if (!is_file) wait_for_others(fd, -1);
    const ssize_t written =
        ::write(fd, bytes.data(), is_file ? bytes.size() : std::min<size_t>(bytes.size(), PIPE_BUF));
    if (written < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

void FdSink::write(std::string_view bytes) {
  if (error_ != 0) return;
  buffer_.append(bytes);
  if (buffer_.size() < kGatheredBytes) return;
  error_ = write_fully(fd_, buffer_);
  buffer_.clear();
}

Result<Done> FdSink::finish() {
  if (error_ == 0) error_ = write_fully(fd_, buffer_);
  buffer_.clear();
  if (error_ != 0) return output_not_writable(name_, errno_text(error_));
  return Done{};
}

}  // namespace heapprof::cli
