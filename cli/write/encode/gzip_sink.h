// cli/write/encode/gzip_sink.h: compresses what is written to it, and writes it to another sink.
//
// Guarantees
//  - With one version of zlib, equal input gives equal output: the header has no name and no time.
#pragma once

#include "cli/base/byte_sink.h"

#include <memory>
#include <string_view>

namespace heapprof::cli {

class GzipSink : public ByteSink {
 public:
  explicit GzipSink(ByteSink* to);
  ~GzipSink() override;
  void write(std::string_view bytes) override;
  // Call once, at the end.
  void finish();

 private:
  void pack(std::string_view bytes, bool is_end);
  struct Stream;
  std::unique_ptr<Stream> stream_;
  ByteSink* to_;
};

}  // namespace heapprof::cli
