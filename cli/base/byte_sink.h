// cli/base/byte_sink.h: the destination of a writer's bytes: a file that appears complete or not at all, standard
// output, a string.
//
// Guarantees
//  - An error is kept and reported once, when the sink is closed (AtomicFile::commit, FdSink::finish); further writes
//    are harmless.
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

// Writes to a descriptor that it does not own; `name` is its name in messages, "standard output".
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

// Writes all of `bytes`, in as many write() calls as needed; returns 0 or errno.
int write_fully(int fd, std::string_view bytes);

}  // namespace heapprof::cli
