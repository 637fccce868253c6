// cli/base/fd.h: an owned file descriptor, and reading at an offset of a file.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace heapprof::cli {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// Reads all bytes; false if the file ends before, or cannot be read.
inline bool read_at(int fd, void* to, size_t size_bytes, uint64_t file_off) {
  char* out = static_cast<char*>(to);
  while (size_bytes > 0) {
    const ssize_t got = ::pread(fd, out, size_bytes, static_cast<off_t>(file_off));
    if (got <= 0) return false;
    out += got;
    file_off += static_cast<uint64_t>(got);
    size_bytes -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace heapprof::cli
