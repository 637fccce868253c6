// cli/base/byte_sink.h: where a writer puts its bytes: a file that appears whole or not at all, standard output, a
// string.
//
// Guarantees
//  - An error is kept and told once, when the sink is closed (AtomicFile::commit, FdSink::finish); writing on is
//    harmless.
#pragma once

#include "cli/base/result.h"

#include <string>
#include <string_view>

namespace heapprof::cli {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::string_view bytes) = 0;
};

class StringSink : public ByteSink {
 public:
  void write(std::string_view bytes) override { text_.append(bytes); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Writes to a descriptor that somebody else owns; `name` is what messages call it, "standard output".
class FdSink : public ByteSink {
 public:
  FdSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  void write(std::string_view bytes) override;
  Result<Done> finish();

 private:
  int fd_;
  std::string name_;
  std::string buffer_;
  int error_ = 0;
};

// All of `bytes`, in as many write() calls as it takes; returns 0 or errno.
int write_fully(int fd, std::string_view bytes);

}  // namespace heapprof::cli
