// cli/base/output.cc: uses no stdio: if stdout is a file on a full disk, that must not look like success.
#include "cli/base/output.h"

#include "cli/base/problems.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace heapprof::cli {

int print_output(std::string_view text) {
  const int error = write_fully(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return 0;
  const Problem problem = stdout_not_writable(errno_text(error));
  print_problem(problem);
  return problem.exit_code;
}

void OutputSink::write(std::string_view bytes) {
  constexpr size_t kBufferBytes = 64 << 10;
  if (code_ != 0) return;
  buffer_ += bytes;
  if (buffer_.size() < kBufferBytes) return;
  code_ = print_output(buffer_);
  buffer_.clear();
}

int OutputSink::finish() {
  if (code_ == 0) code_ = print_output(buffer_);
  return code_;
}

void keep_standard_descriptors() {
  int fd;
  do {
    fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);  // the lowest free number
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

}  // namespace heapprof::cli
