// cli/base/byte_sink.cc: one system call per 256 KiB, so that writers may hand over single characters.
#include "cli/base/byte_sink.h"

#include "cli/base/problems.h"

#include <unistd.h>

#include <cerrno>

namespace heapprof::cli {
namespace {
constexpr size_t kBufferBytes = 256 << 10;
}

int write_fully(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

void FdSink::write(std::string_view bytes) {
  if (error_ != 0) return;
  buffer_.append(bytes);
  if (buffer_.size() < kBufferBytes) return;
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
