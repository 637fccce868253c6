// cli/read/byte_source.cc: zlib's gz functions pass plain files through, so there is one path for both.
//
// A profile in memory takes as much as its text, or several times that. gzip makes the text 10 times as short, and 90
// times if stacks are 30,000 frames of a recursion; deflate's limit is 1,032 times. So a file's size shows how much
// memory reading it may take, unless it is made to mislead.
#include "cli/read/byte_source.h"

#include "cli/base/fd.h"
#include "cli/base/problems.h"
#include "cli/base/saturating.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr unsigned kBufferBytes = 256 << 10;
constexpr uint64_t kDensest = 200;
constexpr uint64_t kAlwaysReadBytes = 64 << 20;
constexpr uint64_t kFromPipeBytes = uint64_t{1} << 30;  // a pipe's size is unknown

// How many unpacked bytes of gzip'd data are read from a file.
uint64_t unpacked_limit(const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return kFromPipeBytes;
  return std::max(kAlwaysReadBytes, multiply_saturating(static_cast<uint64_t>(file.st_size), kDensest));
}

class FileSource : public ByteSource {
 public:
  FileSource(gzFile file, uint64_t limit_bytes, uint64_t unpacked_limit_bytes)
      : file_(file), limit_bytes_(limit_bytes), unpacked_limit_bytes_(unpacked_limit_bytes), buffer_(kBufferBytes) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { gzclose(file_); }

  std::string_view next() override {
    if (!error_.empty()) return {};
    const int got = gzread(file_, buffer_.data(), kBufferBytes);
    if (got < 0) {
      int code = Z_OK;
      const char* text = gzerror(file_, &code);
      error_ = code == Z_ERRNO ? errno_text(errno) : std::string("the gzip'd data is damaged: ") + text;
      return {};
    }
    read_bytes_ += static_cast<uint64_t>(got);
    is_too_dense_ = read_bytes_ > unpacked_limit_bytes_ && gzdirect(file_) == 0;
    if (read_bytes_ > limit_bytes_ || is_too_dense_) {
      error_ = "it unpacks to more than heapprof reads";
      return {};
    }
    return {buffer_.data(), static_cast<size_t>(got)};
  }
  std::string_view error() const override { return error_; }
  uint64_t unpacked_limit_bytes() const override { return is_too_dense_ ? unpacked_limit_bytes_ : 0; }

 private:
  gzFile file_;
  uint64_t limit_bytes_;
  uint64_t unpacked_limit_bytes_;
  uint64_t read_bytes_ = 0;
  bool is_too_dense_ = false;
  std::vector<char> buffer_;
  std::string error_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path, uint64_t limit_bytes) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.is_open()) return profile_not_readable(path, errno_text(errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return profile_not_readable(path, errno_text(errno));
  if (S_ISDIR(status.st_mode)) return profile_not_readable(path, "it is a directory");
  const auto size_bytes = static_cast<uint64_t>(status.st_size);
  if (S_ISREG(status.st_mode) && size_bytes > limit_bytes) return profile_too_large(path, {size_bytes, limit_bytes});
  const gzFile file = gzdopen(fd.get(), "rb");
  if (file == nullptr) return profile_not_readable(path, errno_text(ENOMEM));
  fd.release();  // zlib owns it now
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(file, limit_bytes, unpacked_limit(status)));
}

}  // namespace heapprof::cli
