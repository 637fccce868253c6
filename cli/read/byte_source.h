// cli/read/byte_source.h: the bytes of a file, in pieces, gzip'd or not.
//
// Guarantees
//  - One buffer of 256 KiB for files of any size; regular files, pipes and /dev/stdin alike.
//  - Stops after `limit_bytes` of text. Stops gzip'd data after 200 times the file's size (at least 64 MiB; 1 GiB for a
//    pipe), so that a small file does not take gigabytes of memory.
#pragma once

#include "cli/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace heapprof::cli {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next piece, empty at the end or after an error. The view is valid until the next call.
  virtual std::string_view next() = 0;
  virtual std::string_view error() const { return {}; }  // empty: no error
  // If the error is that gzip'd data unpacks to more than a limit, that limit; a plain file may be longer. 0: no error,
  // or another one.
  virtual uint64_t unpacked_limit_bytes() const { return 0; }
};

// A text in memory; for tests and fuzzing.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}
  std::string_view next() override { return std::exchange(text_, {}); }

 private:
  std::string_view text_;
};

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path, uint64_t limit_bytes);

}  // namespace heapprof::cli
