// cli/read/byte_source.cc: zlib's gz functions pass plain files through, so there is one path for both.
#include "cli/read/byte_source.h"

#include "cli/base/fd.h"
#include "cli/base/problems.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr unsigned kBufferBytes = 256 << 10;

class FileSource : public ByteSource {
 public:
  FileSource(gzFile file, uint64_t limit_bytes) : file_(file), left_bytes_(limit_bytes), buffer_(kBufferBytes) {}
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
    if (static_cast<uint64_t>(got) > left_bytes_) {
      error_ = "it unpacks to more than heapprof reads";
      return {};
    }
    left_bytes_ -= static_cast<uint64_t>(got);
    return {buffer_.data(), static_cast<size_t>(got)};
  }
  std::string_view error() const override { return error_; }

 private:
  gzFile file_;
  uint64_t left_bytes_;
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
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(file, limit_bytes));
}

}  // namespace heapprof::cli
